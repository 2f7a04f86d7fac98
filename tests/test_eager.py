"""Calls that are prepared once: what they are kept by, and that they are not kept for ever."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import namedtensor as nt
from namedtensor import layouts
from namedtensor.eager import PREPARED
