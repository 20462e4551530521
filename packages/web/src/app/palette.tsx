import type { Client } from '@atrium/client/client'
import type { SessionSummary } from '@atrium/protocol/session/state'
import { rootUri } from '@atrium/protocol/uri'
import { useId, useState } from 'preact/hooks'
import { useLiveChannel } from '../link/live-channel.ts'
import { useMay } from '../link/role.ts'
import { folderOf, lastName, moodOf, titleOf } from '../sessions/grouping.ts'
import { readinessOf } from '../sessions/readiness.ts'
import { useTextSearch } from '../sessions/text-search.ts'
import { keyWords, useOffered } from '../ui/commands.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Suggestions, optionId } from '../ui/suggestions.tsx'
import { found } from '../ui/words.ts'

interface Props {
  readonly client: Client
  readonly sessions: readonly SessionSummary[]
  readonly onOpen: (session: string, chat?: string) => void
  readonly onAgent: (provider: string) => void
  readonly onClose: () => void
}

interface Entry {
  readonly label: string
  readonly about: string
  readonly run: () => void
}

/** Number of entries that are shown. A person who does not see the right one types more. */
const mostShown = 50

/** Number of sessions before the actions, until a person types something. */
const lastSessions = 5

/**
 * The palette: a dialog that finds sessions, texts in sessions, actions and agents by words, and opens or runs the
 * chosen one.
 */
export function Palette({ client, sessions, onOpen, onAgent, onClose }: Props) {
  const { state } = useLiveChannel(client, 'root', rootUri)
  const commands = useOffered().toSorted((a, b) => a.label.localeCompare(b.label))
  const creates = useMay('prompt')
  const [search, setSearch] = useState('')
  const [active, setActive] = useState(0)
  const list = useId()
  const texts = useTextSearch(client, search).map(({ session, chat, title, excerpt }) => ({
    label: excerpt,
    about: `Text in ${titleOf({ title })}`,
    run: () => onOpen(session, chat),
  }))
  const actions = commands
    .filter(({ id }) => id !== 'palette')
    .map(({ label, keys, run }) => ({
      label,
      about: keys === undefined ? 'Action' : `Action · ${keyWords(keys)}`,
      run,
    }))
  const opened = sessions.map((session) => ({
    label: titleOf(session),
    about: aboutSession(session),
    run: () => onOpen(session.resource),
  }))
  const agents = (creates ? (state?.agents ?? []) : []).map((agent) => ({
    label: `New session with ${agent.displayName}`,
    about: `Agent · ${readinessOf(agent).words}`,
    run: () => onAgent(agent.provider),
  }))
  const last = search.trim() === '' ? opened.slice(0, lastSessions) : opened
  const all: readonly Entry[] = [...last, ...actions, ...agents]
  const named = found(all, search, ({ label, about }) => `${label} ${about}`).slice(0, mostShown)
  const shown = [...named, ...texts]
  const pick = (at: number) => {
    const entry = shown[at]
    if (!entry) return
    onClose()
    // The dialog gives the focus back when it closes. The action runs after that, so that the focus stays where the
    // action puts it.
    setTimeout(entry.run)
  }
  return (
    <Dialog title="Find a session or an action" onClose={onClose}>
      <input
        type="text"
        role="combobox"
        autofocus
        autocomplete="off"
        aria-label="Find a session or an action"
        aria-autocomplete="list"
        aria-expanded="true"
        aria-controls={list}
        aria-activedescendant={shown.length > 0 ? optionId(list, active) : undefined}
        placeholder="Words of a title, a text or an action"
        value={search}
        onInput={(event) => {
          setSearch(event.currentTarget.value)
          setActive(0)
        }}
        onKeyDown={(event) => {
          const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
          if (step !== undefined && shown.length > 0) setActive((active + step + shown.length) % shown.length)
          else if (event.key === 'Enter') pick(active)
          else return
          event.preventDefault()
        }}
      />
      <Suggestions id={list} label="Found" items={shown} active={active} onActive={setActive} onPick={pick} />
      <p class="quiet" role="status">
        {shown.length === 0 ? 'Nothing was found.' : ''}
      </p>
    </Dialog>
  )
}

function aboutSession(session: SessionSummary): string {
  const mood = moodOf(session)
  return ['Session', mood === 'idle' ? '' : mood, lastName(folderOf(session))].filter(Boolean).join(' · ')
}
