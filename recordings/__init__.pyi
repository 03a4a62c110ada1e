# What people use from Python. Each name is imported when it is first asked for.
from .conversations.conversation import Conversation as Conversation
from .conversations.conversation import Outcome as Outcome
from .conversations.conversation import SystemTurn as SystemTurn
from .conversations.conversation import TrialKey as TrialKey
from .conversations.conversation import Turn as Turn
from .conversations.rows import conversation_rows as conversation_rows
from .conversations.rows import data_frame as data_frame
from .conversations.rows import turn_rows as turn_rows
from .files.errors import RunError as RunError
from .formats.messages import read_messages as read_messages
from .formats.messages_export import write_messages as write_messages
from .formats.transcript import read_transcript as read_transcript
from .log.run_folder import Run as Run
from .log.run_folder import read as read
from .log.store import RunWriter as RunWriter
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
