# What people use from Python. Each name is imported when it is first asked for.
from .conversation import Conversation as Conversation
from .conversation import Outcome as Outcome
from .conversation import SystemTurn as SystemTurn
from .conversation import TrialKey as TrialKey
from .conversation import Turn as Turn
from .errors import RunError as RunError
from .messages import read_messages as read_messages
from .messages_export import write_messages as write_messages
from .rows import conversation_rows as conversation_rows
from .rows import data_frame as data_frame
from .rows import turn_rows as turn_rows
from .run_folder import Run as Run
from .run_folder import read as read
from .store import RunWriter as RunWriter
from .transcript import read_transcript as read_transcript
from .trees.builder import TreeBuilder as TreeBuilder
from .trees.builder import fold as fold
from .trees.tree import ConversationTree as ConversationTree

__all__ = [
    "Conversation",
    "ConversationTree",
    "Outcome",
    "Run",
    "RunError",
    "RunWriter",
    "SystemTurn",
    "TreeBuilder",
    "TrialKey",
    "Turn",
    "conversation_rows",
    "data_frame",
    "fold",
    "read",
    "read_messages",
    "read_transcript",
    "turn_rows",
    "write_messages",
]
