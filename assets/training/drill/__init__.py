"""Procedural chats for the tiny model, one module per skill; see ../drills.py."""
