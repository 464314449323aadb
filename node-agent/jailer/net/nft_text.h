/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/buf.h"
#include "node-agent/jailer/net/net_plan.h"

/*
 * The table of a jailer in the language of nft(8): all that no slot changes, and an empty set, map
 * or chain for all that one does. Printed from numbers and addresses only; no text from outside
 * ever comes in.
 */

/* Caps of one slot, and the burst that each bears. */
#define NFT_FLOWS              256 /* TCP connections at a time */
#define NFT_LOOKUPS            512 /* tracked DNS exchanges: each for half a minute */
#define NFT_STARTS_A_SECOND    100 /* new connections and lookups */
#define NFT_STARTS_BURST       300
#define NFT_QUESTIONS_A_SECOND 1000 /* packets to the resolver, whose own limit is a tenth */
#define NFT_QUESTIONS_BURST    1000
#define NFT_ANSWERS_A_SECOND   2000 /* refusals that are answered */
#define NFT_ANSWERS_BURST      500

/* Of each family; with a packet more the target is not told apart any more. */
#define NFT_DENIED_SIZE 32u

/* Entries of names4_N and names6_N: 512 addresses with both ports. */
#define NFT_NAMES_SIZE 1024u

/* Upper bound of the text. */
#define NFT_MAX_TEXT (1u << 20)

/* Replaces an earlier table of the name. -ENOMEM or -EMSGSIZE. */
int nft_text_print(const struct net_plan *plan, struct buf *text);
