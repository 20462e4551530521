import { bugIn } from '../simulate/bug.ts'
import type { Bug } from '../simulate/bug.ts'

/** What a client could do wrong. The last ones were in the code once. */
export const clientBugs: readonly Bug[] = [
  bug(
    'no rebase: what others did is put over what is shown',
    'sync/replica',
    'reduce(replica.confirmed, action)',
    'reduce(origin?.clientId === clientId ? replica.confirmed : view(reduce, replica), action)',
  ),
  bug(
    'the head is popped, whoever is echoed',
    'sync/replica',
    'origin?.clientId === clientId ? withoutPending(replica.pending, origin.clientSeq)',
    'origin ? replica.pending.slice(1)',
  ),
  bug('what a snapshot has in it is done again', 'sync/replica', ' && serverSeq > replica.seq;', ';'),
  bug(
    'pending is kept after a refusal',
    'sync/replica',
    'const pending = origin?.clientId === clientId ?',
    'const pending = origin?.clientId === clientId && rejectionReason === undefined ?',
  ),
  bug(
    'a snapshot drops what is pending',
    'sync/channel',
    'fromSnapshot(snapshot, pending)',
    'fromSnapshot(snapshot)',
  ),
  bug(
    'what overtakes an answer is dropped',
    'sync/channel',
    'return void this.#held.push(envelope);',
    'return undefined;',
  ),
  bug(
    'sent again under another number',
    'sync/subscriptions',
    'for (const wish of this.#pending.all)\n            this.#send(wish, peer);',
    'for (const wish of this.#pending.all)\n            this.#send({ ...wish, clientSeq: wish.clientSeq + 1 }, peer);',
  ),
  bug(
    'sent again twice',
    'sync/subscriptions',
    'for (const wish of this.#pending.all)\n            this.#send(wish, peer);',
    'for (const wish of [...this.#pending.sent, ...this.#pending.all])\n            this.#send(wish, peer);',
  ),
  bug('sent again to whom it may not be', 'sync/subscriptions', 'if (!resends)', 'if (false)'),
  bug(
    'sent again behind what is newer',
    'client',
    'this.#subscriptions.opened(peer, resendsOf(this.#host), asked);\n            opened();',
    'opened();\n            this.#subscriptions.opened(peer, resendsOf(this.#host), asked);',
  ),
  bug(
    'never sent again',
    'sync/subscriptions',
    'for (const wish of this.#pending.all)\n            this.#send(wish, peer);',
    '',
  ),
  bug(
    'who was accepted before is called refused',
    'sync/pending-actions',
    'if (before !== undefined)',
    'if (false)',
  ),
  bug(
    'the numbers of others end wishes',
    'sync/subscriptions',
    'if (origin?.clientId === this.#around.clientId)',
    'if (origin)',
  ),
  bug(
    'what is gone is still waited for',
    'sync/subscriptions',
    'for (const wish of this.#pending.of(channel.uri))\n            this.#lose',
    'for (const wish of [])\n            this.#lose',
  ),
  bug(
    'what is released is not left',
    'sync/subscriptions',
    "this.#around.live()?.notify('unsubscribe', { channel: channel.uri });",
    '',
  ),
  bug(
    'every handle subscribes',
    'sync/subscriptions',
    "if (known && known.status !== 'gone')\n            return known;",
    '',
  ),
  bug(
    'a handle that was released is told',
    'sync/handle',
    'for (const undo of this.#undo)\n            undo();',
    '',
  ),
  bug(
    'it says that it has seen more than it has',
    'link/handshake',
    'lastSeenServerSeq: following.lastSeen',
    'lastSeenServerSeq: following.lastSeen + 1',
  ),
  bug('a replay of what it has no state of', 'link/handshake', '({ resumable }) => resumable', '() => true'),
  bug(
    'silence is never noticed',
    'link/reconnect',
    "this.#after(deadMs - doubtMs, () => this.#lost('nothing was heard for too long'));",
    '',
  ),
  bug(
    'what was wished overtakes what was asked',
    'client',
    'this.#link.live ?? (await this.live())',
    'await this.live()',
  ),
  bug(
    'a wish that no host would look at',
    'sync/sendable',
    'const problem = unsendable(channel, action);',
    'const problem = undefined;',
  ),
  bug('what nobody follows may have any shape', 'sync/sendable', 'followed ?? kindOf(action)', 'followed'),
  bug(
    'what is released while a link is greeted is not left',
    'sync/subscriptions',
    "if (now !== channel && now?.status !== 'open')",
    'if (false)',
  ),
  bug('nobody is told that the link is gone', 'client', 'this.#subscriptions.tell();', ''),
]

function bug(name: string, file: string, ...changes: readonly string[]): Bug {
  return bugIn('client', name, file, changes)
}
