"""Small servers of the APIs for which there are recipes, by the name of the recipe."""

from tests.servers.doors import assistants, models
from tests.servers.doors.door import KEY, Door, Said, said

__all__ = ["DOORS", "KEY", "Door", "Said", "said"]

DOORS: dict[str, type[Door]] = {
    kind.recipe: kind
    for module in (models, assistants)
    for kind in vars(module).values()
    if isinstance(kind, type) and issubclass(kind, Door) and kind.recipe
}
