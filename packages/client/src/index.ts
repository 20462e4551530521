// The exports of the package. Inside the package, files import each other directly.
export { ActiveClient } from './active-client.ts'
export type { ChannelOptions, ChannelStatus } from './sync/channel.ts'
export { trusting } from './shared/check.ts'
export type { Check } from './shared/check.ts'
export { checked } from './shared/schemas.ts'
export { Client } from './client.ts'
export type { ClientOptions } from './client.ts'
export { sessionComments } from './comments.ts'
export type { NewComment, SessionComments } from './comments.ts'
export { connect, supportedVersions } from './connect.ts'
export type { ConnectOptions } from './connect.ts'
export type { HostInfo } from './link/handshake.ts'
export { withTurns } from './history.ts'
export { Hosts } from './hosts.ts'
export type { HostedSession } from './hosts.ts'
export type { ActionOn, StateOf } from '@atrium/protocol/kind-types'
export { sessionStatus } from '@atrium/protocol/session/activity'
export type { HostRequests } from './link/host-requests.ts'
export type { ClientProblem } from './shared/errors.ts'
export { pastEnvelopes, stateAt } from './past.ts'
export type {
  EnvelopesQuery,
  PastGap,
  PastPage,
  PastProgress,
  PastRange,
  PastState,
  StateAtQuery,
} from './past.ts'
export { provideFiles } from './provide-files.ts'
export type { ProvidedFiles } from './provide-files.ts'
export { provideTools } from './provide-tools.ts'
export type { ProvidedCall, ProvidedTool, ProvidedTools, ProvideOptions } from './provide-tools.ts'
export { Refused } from './link/reconnect.ts'
export type { Socket, SocketConstructor } from './link/websocket.ts'
export type { LinkState, LinkStatus } from './link/reconnect.ts'
export { fromSnapshot, receive, view, withdraw, writeAhead } from './sync/replica.ts'
export type { Replica, PendingAction } from './sync/replica.ts'
export { SessionList } from './sessions.ts'
export { Subscription } from './sync/handle.ts'
export type { Outcome } from './sync/pending-actions.ts'
export type { World } from './shared/world.ts'
