import type { Client } from '@atrium/client/client'
import type { SessionSummary } from '@atrium/protocol/session/state'
import { useMemo, useRef } from 'preact/hooks'
import { useCommands } from '../ui/commands.ts'
import type { Hold } from '../ui/use-held.ts'
import { InboxEntry } from './inbox-entry.tsx'
import { inboxGroups } from './inbox-groups.ts'

interface Props {
  readonly client: Client
  readonly sessions: readonly SessionSummary[]
  readonly hold: Hold
  readonly say: (text: string) => void
}

/**
 * Everything that waits for a person, over all sessions: questions, which can be answered here, and sessions that have failed or
 * have changes that nobody has looked at. One key allows, denies or opens.
 */
export function InboxView({ client, sessions, hold, say }: Props) {
  const list = useRef<HTMLElement>(null)
  const { groups, more } = useMemo(() => inboxGroups(sessions), [sessions])
  const any = groups.length > 0
  useCommands(
    useMemo(() => {
      if (!any) return []
      return [
        { id: 'inbox', label: 'Go to the inbox', keys: 'i', run: () => step(list.current, 0) },
        {
          id: 'inbox allow',
          label: 'Allow in the inbox',
          keys: 'y',
          run: () => answer(list.current, 'allow'),
        },
        { id: 'inbox deny', label: 'Deny in the inbox', keys: 'd', run: () => answer(list.current, 'deny') },
      ]
    }, [any]),
  )
  if (!any) return null
  return (
    <section
      ref={list}
      class="inbox"
      aria-label="Inbox"
      onKeyDown={(event) => {
        const by = { ArrowDown: 1, ArrowUp: -1 }[event.key]
        // Fields of a form, and buttons, have these keys for themselves.
        if (!(event.target instanceof Element) || !event.target.matches('.entry')) return
        if (by !== undefined) step(list.current, by)
        else if (event.key === 'Enter') event.target.querySelector('a')?.click()
        else return
        event.preventDefault()
      }}
    >
      <h2>
        Inbox <span class="count">{groups.reduce((sum, { entries }) => sum + entries.length, more)}</span>
        <span class="inbox-keys" aria-hidden="true">
          <kbd>Y</kbd> allow <kbd>D</kbd> deny <kbd>Enter</kbd> open
        </span>
      </h2>
      {groups.map(({ project, entries }) => (
        <section key={project} aria-label={`Inbox of ${project}`}>
          <h3>{project}</h3>
          <ul>
            {entries.map((session) => (
              <InboxEntry key={session.resource} client={client} session={session} hold={hold} say={say} />
            ))}
          </ul>
        </section>
      ))}
      {more > 0 && <p class="quiet">{more === 1 ? '1 more session waits' : `${more} more sessions wait`}.</p>}
    </section>
  )
}

function entriesOf(list: HTMLElement | null): readonly HTMLElement[] {
  return [...(list?.querySelectorAll<HTMLElement>('.entry') ?? [])].filter((each) => each.checkVisibility())
}

/** The entry with the focus, else the first one, which is marked. */
function currentOf(list: HTMLElement | null): HTMLElement | undefined {
  const all = entriesOf(list)
  return all.find((each) => each.contains(document.activeElement)) ?? all[0]
}

function step(list: HTMLElement | null, by: number): void {
  const all = entriesOf(list)
  const current = currentOf(list)
  const at = current ? all.indexOf(current) : 0
  all[Math.min(Math.max(at + by, 0), all.length - 1)]?.focus()
}

/** Gives the first question of the current entry its first answer of a kind, as if its button were clicked. */
function answer(list: HTMLElement | null, kind: 'allow' | 'deny'): void {
  const entry = currentOf(list)
  const all = [...(entry?.querySelectorAll<HTMLElement>(`[data-answer=${kind}]`) ?? [])]
  all.find((each) => each.checkVisibility())?.click()
}
