import { createHash } from 'node:crypto'
import type { RecordKindName } from '@atrium/host/records/kinds'
import type { Uri } from '@atrium/protocol/channel'

/** The name and the text of a record. */
type Sample = readonly [name: string, text: string]

/** The secret of the device in the samples, by which it connects. */
export const deviceSecret = 'secret-of-the-chaos-device'

/**
 * Records of the kinds that a short run of the host leaves none of, as the host writes them, and of those that permit something.
 * `session` is a session of the run. Undefined: the run itself leaves some, or the kind is about damage only.
 */
export function samplesOf(session: Uri): { readonly [kind in RecordKindName]: Sample | undefined } {
  const chat = `${session}/chat`
  const gone = 'ahp-session:/chaos-gone'
  const device = {
    id: 'chaos-device',
    name: 'Phone',
    role: 'watch',
    pairedAt: '2026-01-01T00:00:00.000Z',
    hash: createHash('sha256').update(deviceSecret).digest('hex'),
  }
  const target = {
    id: 'chaos',
    addedAt: device.pairedAt,
    target: { kind: 'ntfy', url: 'https://a.invalid/x' },
  }
  const automation = {
    principal: 'chaos',
    cursors: { daily: device.pairedAt },
    older: [],
    requests: [],
    notes: 1,
    missed: 1,
    events: [],
    fired: [],
  }
  const missed = { triggerId: 'daily', because: 'skip', from: device.pairedAt, to: device.pairedAt, count: 1 }
  return {
    lives: undefined,
    days: ['', '[[1700000000000,5]]'],
    searched: undefined,
    aliases: undefined,
    'alias/': ['mock:/chaos', session],
    'automation/': ['ahp-automation:/chaos', JSON.stringify(automation)],
    'automation-missed/': ['ahp-automation:/chaos 000000000000', JSON.stringify(missed)],
    'background/': ['ahp-chat:/chaos-background', ''],
    'canvas/': ['ahp-canvas:/chaos ahp-chat:/chaos-canvas', ''],
    'capture/': undefined,
    'capture-owed/': [`${encodeURIComponent(chat)}/chaos-owed`, ''],
    'capture-sum/': [chat, '{"bytes":0,"order":0}'],
    'capture-sweep/': ['ahp-chat:/chaos-swept', ''],
    'changeset/': [`${session}/changeset/session`, ''],
    'client/': undefined,
    'consent/': ['["chaos-plugin"]', '{"digest":"0123","lines":["run"]}'],
    'copy/': ['ahp-chat:/chaos-copy', ''],
    'damaged/': undefined,
    'device/': [device.id, JSON.stringify(device)],
    'enablement/': ['["chaos-plugin"]', 'off'],
    'gone/': [gone, ''],
    'guest/': [JSON.stringify(['chaos-guest', session]), ''],
    'heir/': [session, gone],
    'listed/': [session, '1 2'],
    'machine/': [session, 'elsewhere'],
    'notice/': undefined,
    'notified/': [target.id, JSON.stringify(target)],
    'open/': [session, ''],
    'owner/': [session, 'somebody'],
    'part/': ['ahp-terminal:/chaos', session],
    'quiet/': undefined,
    'removed/': [gone, '7'],
    'reviewed/': undefined,
    'session/': undefined,
    'titled/': [session, ''],
    'unsearched/': [session, ''],
    'worktree/': [session, 'chaos'],
  }
}
