# SPDX-License-Identifier: GPL-2.0-or-later
"""What boots and drives virtual machines and ternd, for tests, demo and bench.

Everything here runs inside the lab (scripts/lab/enter).
"""
