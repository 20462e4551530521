import type { ToolResultContent } from '@atrium/protocol/chat/tool'
import { ArrowRight, SquareTerminal } from 'lucide'
import { useState } from 'preact/hooks'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { withVisibleControls } from '../../ui/visible-controls.ts'
import { useChat } from '../shared/context.ts'
import { ContentCard } from './content-card.tsx'
import { FileEditView } from './file-edit.tsx'
import { visibleText } from '../shared/text.ts'

/** The result of a tool, as far as it has come. */
export function ToolResult({ content }: { readonly content: readonly ToolResultContent[] }) {
  const texts = content.some(({ type }) => type === 'text')
  return (
    <>
      {content.map((each, at) => (
        <ContentView key={at} content={each} hasText={texts} />
      ))}
    </>
  )
}

interface Props {
  readonly content: ToolResultContent
  /** Whether the result also has text. The preview of a terminal is then left out, because it would repeat the text. */
  readonly hasText: boolean
}

function ContentView({ content, hasText }: Props) {
  const { client, openChat } = useChat()
  switch (content.type) {
    case 'text':
      return <Output text={content.text} />
    case 'fileEdit':
      return <FileEditView client={client} edit={content} />
    case 'terminal': {
      const { title, result } = content
      const exit = result?.exitCode
      return (
        <>
          <p class="tool-terminal">
            <Icon of={SquareTerminal} /> {visibleText(title)}
            {exit !== undefined && <span class={exit === 0 ? 'quiet' : 'bad'}>exit code {exit}</span>}
          </p>
          {!hasText && result?.preview !== undefined && <Output text={result.preview} />}
        </>
      )
    }
    case 'subagent':
      return (
        <Button icon={ArrowRight} onClick={() => openChat(content.resource)}>
          {visibleText(content.title)}
        </Button>
      )
    case 'embeddedResource':
      if (/^image\/(?:png|jpeg|gif|webp)$/.test(content.contentType))
        return (
          <img
            class="tool-image"
            src={`data:${content.contentType};base64,${content.data}`}
            alt="Result of the tool"
          />
        )
      return (
        <p class="quiet">
          {visibleText(content.contentType)}, {content.data.length.toLocaleString('en')} characters
        </p>
      )
    case 'resource':
      return <ContentCard content={content} />
    default:
      return <p class="quiet">A result of a kind that this page does not know.</p>
  }
}

const firstLines = 16

/** The text output of a tool. Shows its last lines, and a button for the earlier ones. */
function Output({ text }: { readonly text: string }) {
  const [all, setAll] = useState(false)
  const lines = text.replace(/\n$/, '').split('\n')
  const hidden = all ? 0 : Math.max(0, lines.length - firstLines)
  if (text.trim() === '') return null
  return (
    <div class="output">
      {hidden > 0 && (
        <Button look="quiet" onClick={() => setAll(true)}>
          Show {hidden} earlier lines
        </Button>
      )}
      <pre tabIndex={0}>{withVisibleControls(withoutEscapes(lines.slice(hidden).join('\n')))}</pre>
    </div>
  )
}

/** Output without the escape sequences of terminals, which mean nothing here. */
function withoutEscapes(text: string): string {
  return text.replaceAll(/\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\^_])/g, '')
}
