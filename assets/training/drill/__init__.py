"""Chats for the tiny model that a program makes, one module per skill. ../drills.py puts them together."""
