"""The labels of clearformer classify, for a model that matches pictures with texts and has no classes of its own."""

from clearformer.cli.usage import UsageError


def given_labels(values: list[str] | None) -> tuple[str, ...]:
    """Of one --labels, what stands between its commas; of several, each as it is."""
    if not values:
        raise UsageError(
            'this model has no classes of its own: give --labels, such as --labels "a photo of a cat,a photo of a dog"'
        )
    return tuple(values) if len(values) > 1 else tuple(part.strip() for part in values[0].split(","))
