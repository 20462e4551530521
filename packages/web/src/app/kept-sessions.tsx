import type { Client } from '@atrium/client/client'
import { memo } from 'preact/compat'
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { SessionView } from '../chat/session-view.tsx'
import { ShownProvider } from '../ui/shown.ts'
import { opened } from './kept.ts'
import type { Kept } from './kept.ts'
import { PastView } from './late-views.ts'
import { go } from '../ui/route.ts'
import type { Route } from '../ui/route.ts'

/** How long a session stays in the document after a person has left it, in milliseconds. */
const keptMs = 5 * 60_000

interface Props {
  readonly client: Client
  readonly route: Route
  readonly say: (text: string) => void
}

/**
 * The open session, and hidden sessions that were open before. A hidden session keeps its elements and subscriptions. So
 * when a person opens it again, the page shows it at once, and draws only what has changed.
 */
export function KeptSessions({ client, route, say }: Props) {
  const kept = useRef<readonly Kept[]>([])
  kept.current = opened(kept.current, route)
  const [, setDropped] = useState<string>()
  const drop = useCallback((session: string) => {
    kept.current = kept.current.filter((each) => each.session !== session)
    setDropped(session)
  }, [])
  return (
    <>
      {kept.current.map(({ session, chat }) => (
        <KeptSession
          key={session}
          client={client}
          session={session}
          chat={chat}
          shown={session === route.session}
          say={say}
          onExpired={drop}
        />
      ))}
    </>
  )
}

interface KeptProps {
  readonly client: Client
  readonly session: string
  readonly chat: string | undefined
  readonly shown: boolean
  readonly say: (text: string) => void
  readonly onExpired: (session: string) => void
}

// The functions that a session gets stay the same objects. So a change of the session list does not draw it again.
const KeptSession = memo(function KeptSession({ client, session, chat, shown, say, onExpired }: KeptProps) {
  const openChat = useCallback((next: string) => go({ session, chat: next }), [session])
  const past = useCallback(
    (of: string) => <PastView key={of} client={client} session={session} chat={of} openChat={openChat} />,
    [client, session, openChat],
  )
  useEffect(() => {
    if (shown) return
    const timer = setTimeout(() => onExpired(session), keptMs)
    return () => clearTimeout(timer)
  }, [shown, session, onExpired])
  return (
    <ShownProvider value={shown}>
      {/* A session that was left is inert: no key, no pointer and no screen reader reaches it. */}
      <div class={shown ? 'kept' : 'kept left'} inert={!shown}>
        <SessionView
          client={client}
          session={session}
          chat={chat}
          onBack={toList}
          onOpenChat={openChat}
          say={say}
          past={past}
        />
      </div>
    </ShownProvider>
  )
})

const toList = () => go({ place: 'sessions' })
