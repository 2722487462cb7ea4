"""Other people's figures, for everybody: their scorers and their data, fetched by name from where they publish them.

    make parity                 fetch what can be fetched, run the scorers, compare
    make parity DATA=DIR        with a folder that has the data; nothing is fetched

`sources.toml` names each source with its address, licence and checksum. `made.py` draws small inputs of our own, `peers.py` runs the
scorers on them, and what they answered is kept in tests/parity/made: the tests hold tallystick to it in any clone, without network.
"""
