# SPDX-License-Identifier: Apache-2.0
"""Random programs, files and documents against something that knows better.

Every module whose name does not begin with an underscore is a kind of program. Its function
``run(seed, seconds)`` runs programs for about so long, at least one, returns how many they were,
and raises for the first that goes wrong. ``make fuzz`` runs all of them, and pytest some of each.
"""
