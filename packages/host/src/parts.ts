import { annotations } from './parts/annotations/part.ts'
import { automations } from './parts/automations/part.ts'
import { background } from './parts/background/part.ts'
import { canvas } from './parts/canvas/part.ts'
import { chat } from './parts/chat/part.ts'
import { completions } from './parts/completions/part.ts'
import { resumption } from './parts/session/recovery.ts'
import { clientUriOwners, readBudget, resources } from './parts/resources/part.ts'
import { roles } from './parts/roles/part.ts'
import { root } from './parts/root/part.ts'
import { session } from './parts/session/part.ts'
import { terminal } from './parts/terminal/part.ts'
import { tools } from './parts/tools/part.ts'
import { turn } from './parts/turn/part.ts'
import { agents } from './parts/agents/part.ts'
import { machineParts } from './catalog/machine.ts'
import { sessionParts } from './catalog/session-parts.ts'
import { worktreeIds, worktrees } from './parts/worktrees/part.ts'
import { signIns } from './parts/auth/part.ts'
import { tokens } from './parts/auth/tokens-part.ts'
import { changes } from './parts/changes/part.ts'
import type { Part } from './kernel/part.ts'
import { customizations } from './parts/customizations/part.ts'
import type { HostPorts } from './host-ports.ts'
import { devices } from './parts/devices/part.ts'
import { history } from './parts/history/part.ts'
import { listings } from './parts/listings/part.ts'
import { notifications } from './parts/notifications/part.ts'
import { search } from './parts/search/part.ts'
import { subscriptions } from './parts/subscriptions/part.ts'
import { telemetry } from './parts/telemetry/part.ts'
import { departures } from './parts/session/departures-part.ts'

/** The parts of a host, in the order in which they are opened, follow actions and end. A test pins the order. */
export const parts: readonly Part<HostPorts>[] = [
  ...sessionParts,
  clientUriOwners,
  readBudget,
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
  telemetry,
  background,
  canvas,
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
  automations,
]
