import { AhpError } from '@atrium/protocol/errors'
import { includes } from '@atrium/protocol/root/device'
import type { Role } from '@atrium/protocol/root/device'
import type { Schema } from '@atrium/protocol/schema'
import { EnvelopesParams, StateAtParams } from '@atrium/protocol/root/past'
import { CommitParams, ReviewHunksParams } from '../../core/changes/extensions.ts'
import type { Core, Link } from '../../core/core.ts'
import { SearchParams } from '../../core/search/extensions.ts'
import {
  AddWebhookParams,
  PresenceParams,
  RemoveTargetParams,
  SubscribePushParams,
  UnsubscribePushParams,
} from '../../core/notifications/extensions.ts'
import type { Notifying } from '../../core/notifications/notifying.ts'
import { NoParams, PairDeviceParams, RevokeDeviceParams } from '../../core/devices/extensions.ts'
import { BeginSignInParams, EndSignInParams } from '../../core/sign-ins/extensions.ts'
import type { SignIns } from '../../core/sign-ins/sign-ins.ts'
import type { Generation } from '../../dialect/generation.ts'
import { DeferredResponse } from '../deferred-response.ts'
import type { OpeningLink } from '../opening.ts'

/** A command that AHP does not have. */
export interface Extension {
  readonly params: Schema<unknown>
  /** The role that a device needs for the command. */
  readonly role: Role
  /** Whether this host has the command. */
  readonly isOffered: (core: Core) => boolean
  /** Runs the command. The schema has checked the params. */
  readonly run: (core: Core, params: unknown, link: Link) => unknown
}

/**
 * The commands of this host that AHP does not have. They are not in the schemas of AHP, and clients of older versions do not
 * get them. The result of `initialize` names those that the host offers.
 */
const extensions: ReadonlyMap<string, Extension> = new Map([
  [
    'x-atrium/commit',
    extension('own', CommitParams, {
      isOffered: ({ changes, commits }) => changes !== undefined && commits !== undefined,
      // A commit may wait for other operations, and the client's later requests must not wait so long.
      run: ({ changes }, params) => changes && new DeferredResponse(changes.commit(params)),
    }),
  ],
  [
    'x-atrium/reviewHunks',
    extension('prompt', ReviewHunksParams, {
      isOffered: ({ changes }) => changes !== undefined,
      run: ({ changes }, params) => changes && new DeferredResponse(changes.reviewHunks(params)),
    }),
  ],
  [
    'x-atrium/search',
    extension('watch', SearchParams, {
      isOffered: ({ search }) => search !== undefined,
      // A search may take long, and the client's later requests must not wait so long.
      run: ({ search }, params) => search && new DeferredResponse(search.find(params)),
    }),
  ],
  [
    'x-atrium/rebuildSearch',
    extension('own', NoParams, { isOffered: ({ search }) => search !== undefined, run: rebuildSearch }),
  ],
  [
    'x-atrium/stateAt',
    extension('watch', StateAtParams, {
      // A call may wait for other calls, and the client's later requests must not wait so long.
      run: ({ past }, params, link) => new DeferredResponse(past.stateAt(link, params)),
    }),
  ],
  [
    'x-atrium/envelopes',
    extension('watch', EnvelopesParams, {
      run: ({ past }, params, link) => new DeferredResponse(past.envelopes(link, params)),
    }),
  ],
  ['x-atrium/devices', extension('own', NoParams, { run: ({ devices }) => ({ devices: devices.list }) })],
  ['x-atrium/pairDevice', extension('own', PairDeviceParams, { run: pairDevice })],
  [
    'x-atrium/revokeDevice',
    extension('own', RevokeDeviceParams, {
      run: ({ devices }, { id }) => new DeferredResponse(devices.revoke(id)),
    }),
  ],
  ['x-atrium/beginSignIn', signIn(BeginSignInParams, (signIns, params, link) => signIns.begin(link, params))],
  ['x-atrium/endSignIn', signIn(EndSignInParams, (signIns, params, link) => signIns.end(link, params))],
  ['x-atrium/pushKey', notification('watch', NoParams, ({ publicKey }) => ({ publicKey }))],
  [
    'x-atrium/presence',
    notification('watch', PresenceParams, (notifications, params, link) => {
      notifications.present(link, params)
      return {}
    }),
  ],
  [
    'x-atrium/subscribePush',
    notification('watch', SubscribePushParams, (notifications, params, link) =>
      notifications.subscribe(link, params),
    ),
  ],
  [
    'x-atrium/unsubscribePush',
    notification('watch', UnsubscribePushParams, (notifications, params, link) =>
      notifications.unsubscribe(link, params).then(() => ({})),
    ),
  ],
  ['x-atrium/notifications', notification('own', NoParams, (notifications) => notifications.list())],
  [
    'x-atrium/addWebhook',
    notification('own', AddWebhookParams, (notifications, params) => notifications.addWebhook(params)),
  ],
  [
    'x-atrium/removeNotificationTarget',
    notification('own', RemoveTargetParams, (notifications, params) =>
      notifications.remove(params).then(() => ({})),
    ),
  ],
  [
    'x-atrium/testNotifications',
    // Targets may answer late, and the client's later requests must not wait so long.
    notification('own', NoParams, (notifications) => notifications.test().then((notices) => ({ notices }))),
  ],
])

/**
 * A command that only a host with a notifier offers. If `run` returns a promise, the response comes later, and
 * further requests do not wait for it.
 */
function notification<P>(
  role: Role,
  params: Schema<P>,
  run: (notifications: Notifying, params: P, link: Link) => object | Promise<object>,
): Extension {
  return extension(role, params, {
    isOffered: ({ notifications }) => notifications !== undefined,
    run: ({ notifications }, given, link) => {
      const result = notifications && run(notifications, given, link)
      return result instanceof Promise ? new DeferredResponse(result) : result
    },
  })
}

/** A command of a sign-in with a browser. The client's later requests do not wait for the browser. */
function signIn<P>(
  params: Schema<P>,
  run: (signIns: SignIns, params: P, link: Link) => Promise<object>,
): Extension {
  return extension('own', params, {
    isOffered: ({ signIns }) => signIns !== undefined,
    run: ({ signIns }, given, link) => signIns && new DeferredResponse(run(signIns, given, link)),
  })
}

function pairDevice(core: Core, params: PairDeviceParams): object {
  const reason = core.readOnlyReason()
  if (reason !== undefined) throw AhpError.permissionDenied(reason)
  return core.devices.pair(params)
}

function rebuildSearch({ search, readOnlyReason }: Core): unknown {
  const reason = readOnlyReason()
  if (reason !== undefined) throw AhpError.permissionDenied(reason)
  return search && new DeferredResponse(search.rebuild().then(() => ({})))
}

/** The role that each of these commands needs. */
export const extensionRoles: { readonly [name: string]: Role } = Object.fromEntries(
  [...extensions].map(([name, { role }]) => [name, role]),
)

/** The command of this name; undefined if the host does not offer it to clients of this version. */
export function extensionNamed(core: Core, { lens }: Generation, name: string): Extension | undefined {
  const found = lens ? undefined : extensions.get(name)
  return found?.isOffered(core) === true ? found : undefined
}

/** What the result of `initialize` says about extensions: the commands that the client's version and role allow. */
export function offeredExtensions(
  core: Core,
  { dialect, device }: Pick<OpeningLink, 'dialect' | 'device'>,
): { readonly commands?: readonly string[] } {
  const allowed = ({ role }: Extension) => !device || includes(device.role, role)
  const commands = [...extensions].flatMap(([name, each]) =>
    each.isOffered(core) && allowed(each) ? [name] : [],
  )
  return dialect.generation.lens || commands.length === 0 ? {} : { commands }
}

function extension<P>(
  role: Role,
  params: Schema<P>,
  {
    isOffered = () => true,
    run,
  }: { isOffered?: Extension['isOffered']; run: (core: Core, params: P, link: Link) => unknown },
): Extension {
  // The params have passed the schema before `run` gets them.
  return { params, role, isOffered, run: (core, given, link) => run(core, given as P, link) }
}
