import type { ToolResultContent } from '@atrium/protocol/chat/tool'
import { ArrowRight, SquareTerminal } from 'lucide'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Picture } from '../../ui/picture.tsx'
import { useChat } from '../shared/context.ts'
import { ContentCard } from './content-card.tsx'
import { FileEditView } from './file-edit.tsx'
import { Output } from './output.tsx'
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
          <Picture
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
