import { bugIn } from '../simulate/bugs/bug.ts'
import type { Bug } from '../simulate/bugs/bug.ts'

/**
 * Bugs that can be patched into the built client library, to check that the simulation finds them. The last ones were
 * in the code once.
 */
export const clientBugs: readonly Bug[] = [
  bug(
    'actions of others are applied over pending ones without a rebase',
    'sync/replica',
    'reduce(replica.confirmed, action)',
    'reduce(origin?.clientId === clientId ? replica.confirmed : view(reduce, replica), action)',
  ),
  bug(
    'any echo removes the first pending action',
    'sync/replica',
    'origin?.clientId === clientId ? withoutPending(replica.pending, origin.clientSeq)',
    'origin ? replica.pending.slice(1)',
  ),
  bug(
    'actions contained in a snapshot are applied again',
    'sync/replica',
    ' && serverSeq > replica.seq;',
    ';',
  ),
  bug(
    'a rejected action stays pending',
    'sync/replica',
    'const pending = origin?.clientId === clientId ?',
    'const pending = origin?.clientId === clientId && rejectionReason === undefined ?',
  ),
  bug(
    'a snapshot drops pending actions',
    'sync/channel',
    'fromSnapshot(snapshot, pending)',
    'fromSnapshot(snapshot)',
  ),
  bug(
    'an action that overtakes a response is dropped',
    'sync/channel',
    'return void this.#held.push(envelope);',
    'return undefined;',
  ),
  bug(
    'an action is resent under another clientSeq',
    'sync/subscriptions',
    'for (const pending of this.#pending.all)\n            this.#send(pending, peer);',
    'for (const pending of this.#pending.all)\n            this.#send({ ...pending, clientSeq: pending.clientSeq + 1 }, peer);',
  ),
  bug(
    'an action is resent twice',
    'sync/subscriptions',
    'for (const pending of this.#pending.all)\n            this.#send(pending, peer);',
    'for (const pending of [...this.#pending.sent, ...this.#pending.all])\n            this.#send(pending, peer);',
  ),
  bug(
    'actions are resent to a host that does not allow it',
    'sync/subscriptions',
    'if (!resends)',
    'if (false)',
  ),
  bug(
    'actions are resent after newer ones',
    'client',
    'this.#subscriptions.opened(peer, resendsOf(this.#host), requested);\n            opened();',
    'opened();\n            this.#subscriptions.opened(peer, resendsOf(this.#host), requested);',
  ),
  bug(
    'actions are never resent',
    'sync/subscriptions',
    'for (const pending of this.#pending.all)\n            this.#send(pending, peer);',
    '',
  ),
  bug(
    'an already accepted action is reported as refused',
    'sync/pending-actions',
    'if (before !== undefined)',
    'if (false)',
  ),
  bug(
    'clientSeq numbers of other clients end pending actions',
    'sync/subscriptions',
    'origin?.clientId === this.#context.clientId ? origin.clientSeq',
    'origin ? origin.clientSeq',
  ),
  bug(
    'actions in a channel that is gone stay pending',
    'sync/subscriptions',
    'for (const pending of this.#pending.of(channel.uri))\n            this.#lose',
    'for (const pending of [])\n            this.#lose',
  ),
  bug(
    'a released channel is not unsubscribed',
    'sync/subscriptions',
    "this.#context.live()?.notify('unsubscribe', { channel: channel.uri });",
    '',
  ),
  bug(
    'every handle subscribes',
    'sync/subscriptions',
    "if (known && known.status !== 'gone')\n            return known;",
    '',
  ),
  bug(
    'a released handle is notified',
    'sync/handle',
    'for (const undo of this.#undo)\n            undo();',
    '',
  ),
  bug(
    'reconnect claims a number that was not seen',
    'link/handshake',
    'lastSeenServerSeq: subscriptions.lastSeen',
    'lastSeenServerSeq: subscriptions.lastSeen + 1',
  ),
  bug(
    'a replay is requested for a channel without a state',
    'link/handshake',
    '({ resumable }) => resumable',
    '() => true',
  ),
  bug(
    'a silent link is never noticed',
    'link/reconnect',
    "this.#after(lostAfterMs - staleAfterMs, () => this.#lost('nothing was received for too long'));",
    '',
  ),
  bug(
    'an action overtakes an earlier request',
    'client',
    'this.#link.live ?? (await this.live())',
    'await this.live()',
  ),
  bug(
    'an action that no host would accept is sent',
    'sync/sendable',
    'const problem = unsendable(channel, action);',
    'const problem = undefined;',
  ),
  bug(
    'actions in channels without a subscription are not validated',
    'sync/sendable',
    'subscribed ?? kindOf(action)',
    'subscribed',
  ),
  bug(
    'a channel released during the handshake is not unsubscribed',
    'sync/subscriptions',
    "if (now !== channel && now?.status !== 'open')",
    'if (false)',
  ),
  bug(
    'handles are not notified of a lost link',
    'client',
    'this.#subscriptions.notifyAll();\n        this.#links.notify(status);',
    'this.#links.notify(status);',
  ),
]

function bug(name: string, file: string, ...changes: readonly string[]): Bug {
  return bugIn('client', name, file, changes)
}
