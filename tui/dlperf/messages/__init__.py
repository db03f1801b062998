"""What dlperf states, as codes with parameters, and the texts that they give in each language."""

from dlperf.messages.language import CHINESE, ENGLISH, LANGUAGES, Language, preferred_language
from dlperf.messages.message import Message, Value, message, quoted
from dlperf.messages.texts import N_

__all__ = [
    "CHINESE",
    "ENGLISH",
    "LANGUAGES",
    "N_",
    "Language",
    "Message",
    "Value",
    "message",
    "preferred_language",
    "quoted",
]
