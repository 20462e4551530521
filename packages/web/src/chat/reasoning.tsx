import { Markdown } from '../markdown/markdown.tsx'

interface Props {
  readonly text: string
  readonly streaming: boolean
}

/** The reasoning of an agent, folded. While the agent thinks, the last line is visible. */
export function Reasoning({ text, streaming }: Props) {
  const last = text.trimEnd().split('\n').at(-1) ?? ''
  return (
    <details class="reasoning">
      <summary>
        <span>{streaming ? 'Thinking' : 'Thought'}</span>
        {streaming && <span class="reasoning-line">{last.slice(-140)}</span>}
      </summary>
      <Markdown text={text} streaming={streaming} />
    </details>
  )
}
