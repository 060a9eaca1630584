"""Conversations that go on in the background, whoever looks: each with a journal of its events, which any
number of clients follow and come back to, and with questions to the person that any of them may answer."""
