import { useLink } from '@atrium/client/react'
import type { ActiveTurn, Turn } from '@atrium/protocol/chat/state'
import { memo } from 'preact/compat'
import { useCallback, useRef, useState } from 'preact/hooks'
import { linkWords } from '../link/link-words.ts'
import { useMay } from '../link/role.ts'
import { Button } from '../ui/button.tsx'
import { Elapsed, durationOf } from '../ui/elapsed.tsx'
import { useChat, useDecide } from './shared/context.ts'
import { MessageView } from './message-view.tsx'
import { PartView } from './part-view.tsx'
import { partGroups } from './tools/call-groups.ts'
import { ToolRun } from './tools/tool-run.tsx'
import { usageWords } from './usage-words.ts'

interface Props {
  readonly turn: Turn | ActiveTurn
  /** Why the message of the turn is not with the host yet. */
  readonly waiting?: string | undefined
  /** What the agent does now. */
  readonly activity?: string | undefined
  /** Whether this is the last turn, which alone can be resumed. */
  readonly last?: boolean
  readonly onFork?: (turnId: string) => void
  readonly onEdit?: (turnId: string, text: string) => void
}

/** A turn: a message, and everything that the agent answered. */
export const TurnView = memo(function TurnView({
  turn,
  waiting,
  activity,
  last = false,
  onFork,
  onEdit,
}: Props) {
  const active = !('state' in turn)
  const parts = turn.responseParts
  const [behind, setBehind] = useBehind(!active)
  const seenActive = useRef(active)
  return (
    <article class={`turn${active ? ' active' : ''}`} data-turn={turn.id}>
      <MessageView
        message={turn.message}
        waiting={waiting}
        turnId={turn.id}
        onFork={active ? undefined : onFork}
        onEdit={active ? undefined : onEdit}
      />
      <div class="answer">
        {partGroups(parts, active).map(({ at, parts: [part], calls }) =>
          calls ? (
            <ToolRun key={`run ${at}`} turnId={turn.id} calls={calls} />
          ) : (
            part && (
              <PartView
                key={at}
                turnId={turn.id}
                part={part}
                streaming={active && at === parts.length - 1}
                // A turn that had ended when it was opened is drawn as a whole.
                {...(at === parts.length - 1 && seenActive.current && { onBehind: setBehind })}
                // All tool cards of the active turn are open. If the last turn has ended, only a card at its end is open.
                opened={active || (at === parts.length - 1 && last)}
              />
            )
          ),
        )}
        {!('state' in turn) ? (
          <Working turn={turn} waiting={waiting} activity={activity} />
        ) : behind ? (
          <p class="working">
            <span class="pulse" aria-hidden="true" /> Working
          </p>
        ) : (
          <Foot turn={turn} last={last} />
        )}
      </div>
    </article>
  )
})

/**
 * Whether a turn has ended before all of its text was drawn, and a function that tells how the text does. The turn is
 * drawn again only if it has ended: while it is active, its text is behind in nearly every frame.
 */
function useBehind(ended: boolean): readonly [boolean, (behind: boolean) => void] {
  const now = useRef({ ended, behind: false })
  now.current.ended = ended
  const [, redraw] = useState({})
  const tell = useCallback((behind: boolean) => {
    if (now.current.behind === behind) return
    now.current.behind = behind
    if (now.current.ended) redraw({})
  }, [])
  return [ended && now.current.behind, tell]
}

interface WorkingProps extends Pick<Props, 'waiting' | 'activity'> {
  readonly turn: ActiveTurn
}

function Working({ turn, waiting, activity }: WorkingProps) {
  const { client } = useChat()
  const { tone } = linkWords(useLink(client), 0)
  if (waiting !== undefined) return null
  // Without a link nobody here knows what the turn does, so that no time is counted.
  if (tone === 'offline')
    return <p class="working">Offline. What the turn does now is shown when the host is back.</p>
  const asks = turn.responseParts.some(isOpenQuestion)
  return (
    <p class="working">
      <span class={`pulse${asks ? ' asks' : ''}`} aria-hidden="true" />
      {asks ? 'Waits for an answer' : (activity ?? 'Working')} <Elapsed since={turn.startedAt} />
    </p>
  )
}

const asking = new Set<string>(['pending-confirmation', 'pending-result-confirmation', 'auth-required'])

function isOpenQuestion(part: ActiveTurn['responseParts'][number]): boolean {
  if (part.kind === 'inputRequest') return part.response === undefined
  return part.kind === 'toolCall' && asking.has(part.toolCall.status)
}

function Foot({ turn, last }: { readonly turn: Turn; readonly last: boolean }) {
  const decide = useDecide()
  const writes = useMay('prompt')
  const end = turn.responseParts.at(-1)
  const resumable =
    writes && last && turn.state === 'error' && end?.kind === 'error' && end.resumable === true
  const words = [
    turn.state === 'cancelled' ? 'cancelled' : '',
    turn.duration === undefined ? '' : durationOf(turn.duration),
    usageWords(turn.usage),
  ].filter(Boolean)
  return (
    <>
      {resumable && (
        <Button look="primary" onClick={() => decide({ type: 'chat/turnResume', turnId: turn.id })}>
          Resume the turn
        </Button>
      )}
      {words.length > 0 && <p class="turn-foot">{words.join(' · ')}</p>}
    </>
  )
}
