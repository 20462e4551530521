import { useEffect, useState } from 'preact/hooks'

type Place = 'sessions' | 'settings' | 'automations'
const places: ReadonlySet<string> = new Set<Place>(['sessions', 'settings', 'automations'])

/** What the page shows: a session and one of its chats, or else the first screen. */
export interface Route {
  /** Instead of the first screen: the settings, the automations, or on a narrow screen the session list. */
  readonly place?: Place
  readonly session?: string
  readonly chat?: string
}

const prefix = 'ahp-session:/'

/** Reads the fragment of the address, which no server sees: `#/session/<name>/<chat>`. */
export function routeOf(fragment: string): Route {
  const [, kind, session = '', chat = ''] = fragment.split('/')
  // The set has only places.
  if (places.has(kind ?? '')) return { place: kind as Place }
  if (kind !== 'session' || session === '') return {}
  const name = decode(session)
  return {
    session: name.includes(':') ? name : `${prefix}${name}`,
    ...(chat !== '' && { chat: decode(chat) }),
  }
}

export function fragmentOf({ session, chat, place }: Route): string {
  if (session === undefined) return `#/${place ?? ''}`
  const name = session.startsWith(prefix) ? session.slice(prefix.length) : session
  return `#/session/${encodeURIComponent(name)}${chat === undefined ? '' : `/${encodeURIComponent(chat)}`}`
}

export function go(route: Route): void {
  location.hash = fragmentOf(route)
}

export function useRoute(): Route {
  const [fragment, setFragment] = useState(location.hash)
  useEffect(() => {
    const changed = () => setFragment(location.hash)
    addEventListener('hashchange', changed)
    return () => removeEventListener('hashchange', changed)
  }, [])
  return routeOf(fragment)
}

/** Takes the code out of the address, so that neither the history nor a bookmark keeps it. */
export function takeCode(): string | undefined {
  const [, code] = /^#code=([\w-]+)$/.exec(location.hash) ?? []
  if (code !== undefined) history.replaceState(null, '', '/')
  return code
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
