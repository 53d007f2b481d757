"""Chats made by rule, for the training of the tiny model: one module per skill, and what they share. ../drills.py mixes the skills."""
