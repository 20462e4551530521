import type { Patch } from '../plant/patch.ts'

/**
 * Bugs that can be patched into every host of a run, each below the id of the rule or fault that it concerns. The
 * judge must find each of them.
 */
export const mutations: Readonly<Record<string, Patch>> = {
  // I1: what a client was told is durable.
  'echo-before-flush': {
    file: 'host/dist/kernel/log/delivery-queue.js',
    find: 'queued.strict && queued.entry.seq > durable',
    put: 'false',
  },
  // I6: an action is applied at most once.
  'resends-are-new': {
    file: 'host/dist/connection/notifications.js',
    find: 'link.resends?.match(channel, clientSeq, checked.value)',
    put: 'undefined',
  },
  // I2: a client receives every envelope, in one order.
  'replay-with-a-gap': {
    file: 'host/dist/connection/replay.js',
    find: 'all.map(({ text }) => text)',
    put: 'all.slice(1).map(({ text }) => text)',
  },
  // I8: a client never sees an older state than before.
  'older-snapshots': {
    file: 'host/dist/channels/snapshot.js',
    find: '"fromSeq":${core.log.committedSeq}',
    put: '"fromSeq":${core.log.committedSeq - 1000}',
  },
  // I9: a client receives only what is meant for it.
  'refusals-for-all': {
    file: 'host/dist/kernel/log/delivery.js',
    find: 'if (entry.only)',
    put: 'if (entry.only && entry.reason === undefined)',
  },
  // I17: a turn ends exactly once.
  'turns-end-twice': {
    file: 'host/dist/parts/turn/turn.js',
    find: 'if (!this.#over)\n            this.#append(this.#chat, action);',
    put: 'this.#core.log.append(this.#chat, action); this.#core.log.append(this.#chat, action);',
  },
  // F-04: clients are told which channels are damaged.
  'damage-is-not-told': {
    file: 'host/dist/connection/opening.js',
    find: 'damaged.set(name, damage);',
    put: ';',
  },
  // F-03: clients are told that data was lost.
  'losses-are-not-told': {
    file: 'adapters/dist/store/thread-store.js',
    find: 'lost !== undefined && { lost }',
    put: 'false',
  },
  // L60: what a flipped bit in a key hides permits nothing.
  'damaged-keys-stay': {
    file: 'host/dist/open.js',
    find: 'await checked.restoreKeys();',
    put: '',
  },
  // I3: a state equals the reduced log.
  'snapshot-of-the-head': {
    file: 'host/dist/channels/derived.js',
    find: 'return channel.committedState;',
    put: 'return channel.head;',
  },
  // V8: clients of older versions get actions of their version.
  'older-clients-miss-actions': {
    file: 'host/dist/dialect/lowered.js',
    find: 'text: JSON.stringify(each),',
    put: "text: JSON.stringify({ ...each, type: 'nobody/knows' }),",
  },
}
