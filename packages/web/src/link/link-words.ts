import type { LinkStatus } from '@atrium/client/link/reconnect'

/** The state of the link in words, and the colour that goes with it. */
export interface LinkWords {
  readonly tone: 'live' | 'waiting' | 'offline'
  readonly text: string
  readonly detail: string
}

/** Describes the link for a person: whether the page is up to date, and how many changes are unconfirmed. */
export function linkWords({ state, reason, retryInMs }: LinkStatus, pending: number): LinkWords {
  const waiting = pending === 0 ? '' : pending === 1 ? '1 change waits' : `${pending} changes wait`
  const why = reason === undefined ? '' : `${reason[0]?.toUpperCase() ?? ''}${reason.slice(1)}.`
  if (state === 'live')
    return pending === 0
      ? { tone: 'live', text: 'Live', detail: 'Everything here is up to date.' }
      : { tone: 'live', text: 'Live', detail: `${waiting} for the host.` }
  if (state === 'closed') return { tone: 'offline', text: 'Disconnected', detail: why }
  if (retryInMs === undefined)
    return { tone: 'waiting', text: state === 'connecting' ? 'Connecting…' : 'Catching up…', detail: why }
  return {
    tone: 'offline',
    text: waiting === '' ? 'Offline, trying again' : `Offline, ${waiting}`,
    detail: why,
  }
}
