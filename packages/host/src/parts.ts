import { annotations } from './annotations/part.ts'
import { chat } from './chat/part.ts'
import { completions } from './completions/part.ts'
import { resumption } from './recovery.ts'
import { resources } from './resources/part.ts'
import { roles } from './roles/part.ts'
import { root } from './root/part.ts'
import { session } from './session/part.ts'
import { terminal } from './terminal/part.ts'
import { tools } from './tools/part.ts'
import { turn } from './turn/part.ts'
import { agents } from './agents/part.ts'
import { machineParts } from './core/machine.ts'
import { sessionParts } from './core/session-parts.ts'
import { worktreeIds, worktrees } from './worktrees/part.ts'
import { signIns } from './auth/part.ts'
import { tokens } from './auth/tokens-part.ts'
import { changes } from './changes/part.ts'
import type { Part } from './kernel/part.ts'
import { customizations } from './customizations/part.ts'
import type { HostPorts } from './host-ports.ts'
import { devices } from './parts/devices/part.ts'
import { history } from './parts/history/part.ts'
import { listings } from './parts/listings/part.ts'
import { notifications } from './parts/notifications/part.ts'
import { search } from './parts/search/part.ts'
import { subscriptions } from './parts/subscriptions/part.ts'
import { departures } from './session/departures-part.ts'

/** The parts of a host, in the order in which they are opened, follow actions and end. A test pins the order. */
export const parts: readonly Part<HostPorts>[] = [
  ...sessionParts,
  ...machineParts,
  worktrees,
  worktreeIds,
  agents,
  tokens,
  listings,
  customizations,
  changes,
  search,
  history,
  devices,
  signIns,
  notifications,
  departures,
  roles,
  subscriptions,
  root,
  session,
  chat,
  tools,
  turn,
  terminal,
  resources,
  completions,
  annotations,
  resumption,
]
