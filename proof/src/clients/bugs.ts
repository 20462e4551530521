import { bugIn } from '../simulate/bug.ts'
import type { Bug } from '../simulate/bug.ts'

/** What a client could do wrong. The last ones were in the code once. */
export const clientBugs: readonly Bug[] = [
  bug(
    'no rebase: what others did is put over what is shown',
    'replica',
    'reduce(replica.confirmed, action)',
    'reduce(origin?.clientId === clientId ? replica.confirmed : view(reduce, replica), action)',
  ),
  bug(
    'the head is popped, whoever is echoed',
    'replica',
    'origin?.clientId === clientId ? withoutWish(replica.pending, origin.clientSeq)',
    'origin ? replica.pending.slice(1)',
  ),
  bug('what a snapshot has in it is done again', 'replica', ' && serverSeq > replica.seq;', ';'),
  bug(
    'pending is kept after a refusal',
    'replica',
    'const pending = origin?.clientId === clientId ?',
    'const pending = origin?.clientId === clientId && rejectionReason === undefined ?',
  ),
  bug(
    'a snapshot drops what is pending',
    'channel',
    'fromSnapshot(snapshot, pending)',
    'fromSnapshot(snapshot)',
  ),
  bug(
    'what overtakes an answer is dropped',
    'channel',
    'return void this.#held.push(envelope);',
    'return undefined;',
  ),
  bug(
    'sent again under another number',
    'following',
    'for (const wish of this.#wishes.all)\n            this.#send(wish, peer);',
    'for (const wish of this.#wishes.all)\n            this.#send({ ...wish, clientSeq: wish.clientSeq + 1 }, peer);',
  ),
  bug(
    'sent again twice',
    'following',
    'for (const wish of this.#wishes.all)\n            this.#send(wish, peer);',
    'for (const wish of [...this.#wishes.sent, ...this.#wishes.all])\n            this.#send(wish, peer);',
  ),
  bug('sent again to whom it may not be', 'following', 'if (!resends)', 'if (false)'),
  bug(
    'sent again behind what is newer',
    'client',
    'this.#following.opened(peer, resendsOf(this.#host), asked);\n            opened();',
    'opened();\n            this.#following.opened(peer, resendsOf(this.#host), asked);',
  ),
  bug(
    'never sent again',
    'following',
    'for (const wish of this.#wishes.all)\n            this.#send(wish, peer);',
    '',
  ),
  bug('who was accepted before is called refused', 'wishes', 'if (before !== undefined)', 'if (false)'),
  bug(
    'the numbers of others end wishes',
    'following',
    'if (origin?.clientId === this.#around.clientId)',
    'if (origin)',
  ),
  bug(
    'what is gone is still waited for',
    'following',
    'for (const wish of this.#wishes.of(channel.uri))\n            this.#lose',
    'for (const wish of [])\n            this.#lose',
  ),
  bug(
    'what is released is not left',
    'following',
    "this.#around.live()?.notify('unsubscribe', { channel: channel.uri });",
    '',
  ),
  bug(
    'every handle subscribes',
    'following',
    "if (known && known.status !== 'gone')\n            return known;",
    '',
  ),
  bug(
    'a handle that was released is told',
    'subscription',
    'for (const undo of this.#undo)\n            undo();',
    '',
  ),
  bug(
    'it says that it has seen more than it has',
    'greeting',
    'lastSeenServerSeq: following.lastSeen',
    'lastSeenServerSeq: following.lastSeen + 1',
  ),
  bug('a replay of what it has no state of', 'greeting', '({ resumable }) => resumable', '() => true'),
  bug(
    'silence is never noticed',
    'reconnect',
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
    'sendable',
    'const problem = unsendable(channel, action);',
    'const problem = undefined;',
  ),
  bug('what nobody follows may have any shape', 'sendable', 'followed ?? kindOf(action)', 'followed'),
  bug(
    'what is released while a link is greeted is not left',
    'following',
    "if (now !== channel && now?.status !== 'open')",
    'if (false)',
  ),
  bug('nobody is told that the link is gone', 'client', 'this.#following.tell();', ''),
]

function bug(name: string, file: string, ...changes: readonly string[]): Bug {
  return bugIn('client', name, file, changes)
}
