# SPDX-License-Identifier: GPL-2.0-or-later
"""The machines and programs that run now, to be looked at after each test.

Whatever is watched has new_reports(), fault reports since the last call, and
keep(directory), which copies its logs there.
"""

_watched = []


class Reported(Exception):
    """A watched machine or program reported a fault."""


def add(thing):
    _watched.append(thing)


def remove(thing):
    if thing in _watched:
        _watched.remove(thing)


def new_reports():
    """All fault reports since the last call, each with its origin's name."""
    found = []
    for thing in list(_watched):
        found += [f"{thing.name}: {line}" for line in thing.new_reports()]
    return found


def keep(directory):
    for thing in list(_watched):
        thing.keep(directory)
