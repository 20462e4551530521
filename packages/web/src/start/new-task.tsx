import type { Client } from '@atrium/client/client'
import type { ProtectedResourceMetadata } from '@atrium/protocol/common/auth'
import type { AgentInfo } from '@atrium/protocol/root/state'
import { SendHorizontal } from 'lucide'
import { useEffect, useRef, useState } from 'preact/hooks'
import { AttachButton, Attached, useAttaching } from '../chat/composer/attaching.tsx'
import type { Draft } from '../chat/composer/messages.ts'
import { RoleNote } from '../link/role-note.tsx'
import { useMay } from '../link/role.ts'
import { SignInCard } from '../link/sign-in-card.tsx'
import { resourcesIn } from '../link/sign-in-resources.ts'
import { readinessOf } from '../sessions/readiness.ts'
import { Button } from '../ui/button.tsx'
import { GrowingText } from '../ui/growing-text.tsx'
import type { ConfigValues } from './config-form.tsx'
import { FolderField } from './folder-field.tsx'
import { createSession } from './new-session.ts'
import { useSessionConfig } from './session-config.ts'
import { AgentChoices, MoreSettings, QuickSettings } from './task-choices.tsx'
import { ThingsToTry } from './things-to-try.tsx'

interface Props {
  readonly client: Client
  readonly agents: readonly AgentInfo[]
  /** The folder that is chosen first. Undefined: the host has not told it yet. */
  readonly path: string | undefined
  /** Folders in which sessions have worked lately, the newest first. */
  readonly folders: readonly string[]
  /** The agent that is chosen first. Undefined: the first that is ready. */
  readonly agent: string | undefined
  /** Grows whenever a person asks for a new session, which moves the focus into the field. */
  readonly asked: number
  /** Whether there are no sessions yet, so that examples help. */
  readonly isFirst: boolean
  readonly onCreated: (session: string) => void
  readonly say: (text: string) => void
}

const nothing: Draft = { text: '', attachments: [] }

/** The task that a person writes. It is kept while the person looks at a session. */
let kept = nothing

/** Begins a session: a task, an agent with its model and settings, a folder, and Enter. */
export function NewTask({ client, agents, path: first, folders, onCreated, say, ...props }: Props) {
  const { agent: wanted, asked, isFirst } = props
  const [given, setProvider] = useState<string>()
  // An agent that a person asks for by the palette takes the place of the one that was chosen before.
  useEffect(() => setProvider(undefined), [wanted, asked])
  const agent = agents.find(({ provider }) => provider === (given ?? wanted)) ?? firstReady(agents)
  const [path, setPath] = useState(first)
  // The first folder that becomes known stays. Later changes of the list must not change what a person is about to start.
  useEffect(() => setPath((now) => now ?? first), [first])
  const [draft, setDraft] = useState(kept)
  kept = draft
  const [config, setConfig] = useState<ConfigValues>({})
  const [problem, setProblem] = useState<string>()
  const [signIns, setSignIns] = useState<readonly ProtectedResourceMetadata[]>([])
  const [busy, setBusy] = useState(false)
  const owns = useMay('own')
  const resolved = useSessionConfig(client, path === undefined ? undefined : agent, path ?? '')
  const missing = missingWords(agent !== undefined, path !== undefined)
  const empty = draft.text.trim() === '' && draft.attachments.length === 0
  const { attach, dragged } = useAttaching(draft, setDraft, say)
  const field = useFocus(asked)
  const create = async () => {
    if (busy || empty || path === undefined || !agent) return
    setBusy(true)
    setProblem(undefined)
    setSignIns([])
    try {
      const created = await createSession(client, { provider: agent.provider, path, config, draft })
      kept = nothing
      onCreated(created)
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error))
      setSignIns(resourcesIn(error))
      setBusy(false)
    }
  }
  const choices = {
    agents,
    agent,
    draft,
    schema: owns ? resolved?.schema : undefined,
    values: { ...resolved?.values, ...config },
    onAgent: (provider: string) => {
      setProvider(provider)
      setConfig({})
      setDraft({ text: draft.text, attachments: draft.attachments })
    },
    onDraft: setDraft,
    onSetting: (key: string, value: unknown) => setConfig({ ...config, [key]: value }),
  }
  const trouble = agent && readinessOf(agent).problem
  const example = (text: string) => {
    setDraft({ ...draft, text })
    field.current?.focus()
  }
  return (
    <form
      class="task"
      aria-label="New session"
      onSubmit={(event) => {
        event.preventDefault()
        void create()
      }}
    >
      {signIns.length > 0 && (
        <SignInCard client={client} resources={signIns} why={problem} onDone={() => void create()} />
      )}
      <div class="composer">
        <Attached draft={draft} dragged={dragged} onDraft={setDraft} />
        <GrowingText
          ref={field}
          value={draft.text}
          label="What shall be done?"
          placeholder="Describe a task, or ask a question"
          rows={3}
          onInput={(text) => setDraft({ ...draft, text })}
          onKeyDown={(event) => {
            // The keys of the inbox act where nobody types.
            if (event.key === 'Escape') return field.current?.blur()
            if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
            event.preventDefault()
            void create()
          }}
          onPaste={(event) => {
            const pasted = [...(event.clipboardData?.files ?? [])]
            if (pasted.length === 0) return
            event.preventDefault()
            attach(pasted)
          }}
        />
        <div class="composer-row">
          <AttachButton onFiles={attach} />
          <AgentChoices {...choices} />
          <Button
            submit
            look="primary"
            icon={SendHorizontal}
            disabled={busy || empty || missing !== undefined}
          >
            {busy ? 'Starting…' : 'Start'}
          </Button>
        </div>
      </div>
      <div class="task-place">
        {path !== undefined && <FolderField client={client} path={path} recent={folders} onPick={setPath} />}
        <QuickSettings {...choices} />
      </div>
      <MoreSettings {...choices} />
      <RoleNote needed="own" to="choose settings, or a folder in which no session works" />
      {trouble !== undefined && <p class="quiet">{trouble}</p>}
      {problem !== undefined && signIns.length === 0 && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <p class="quiet" role="status">
        {missing !== undefined && `Waiting for the host to name ${missing}.`}
      </p>
      {isFirst && <ThingsToTry agent={agent?.provider} onPick={example} />}
    </form>
  )
}

/**
 * The field of the task. It gets the focus when a person asks for a new session. When the page opens, it gets the focus
 * only without a touch screen, whose keyboard would cover the sessions.
 */
function useFocus(asked: number) {
  const field = useRef<HTMLTextAreaElement>(null)
  useEffect(() => {
    if (asked > 0 || matchMedia('(pointer: fine)').matches) field.current?.focus()
  }, [asked])
  return field
}

/** What the host has not told yet, and a new session needs. Undefined: nothing. */
function missingWords(hasAgent: boolean, hasFolder: boolean): string | undefined {
  if (hasAgent && hasFolder) return undefined
  if (hasAgent) return 'its folder'
  return hasFolder ? 'its agents' : 'its agents and its folder'
}

function firstReady(agents: readonly AgentInfo[]): AgentInfo | undefined {
  return agents.find((agent) => readinessOf(agent).state === 'ready') ?? agents[0]
}
