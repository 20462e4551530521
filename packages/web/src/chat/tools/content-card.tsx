import type { ContentRef } from '@atrium/protocol/common/content'
import { Download, File as FileIcon, Link } from 'lucide'
import { useEffect, useState } from 'preact/hooks'
import { Markdown } from '../../markdown/markdown.tsx'
import { safeLink } from '../../markdown/safe-link.ts'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Picture } from '../../ui/picture.tsx'
import { withVisibleControls } from '../../ui/visible-controls.ts'
import { useChat } from '../shared/context.ts'
import { contentWords, isPicture, opens } from '../shared/content-words.ts'
import { readContent, saveContent } from '../shared/stored-content.ts'
import type { Stored } from '../shared/stored-content.ts'
import { visibleText } from '../shared/text.ts'

/** The largest picture that is shown before a person asks for it, in bytes. */
const shownAtOnce = 4_000_000
/** The longest text that is shown, in characters. The rest can be downloaded. */
const longestText = 200_000

/** Content that is stored at the host, a file there, or a link: a picture is shown, everything else is a card. */
export function ContentCard({ content }: { readonly content: ContentRef }) {
  const { client, say } = useChat()
  const { uri } = content
  const words = contentWords(content)
  const link = safeLink(uri)
  const readable = /^(?:ahp-content|file):/.test(uri)
  const [open, setOpen] = useState(
    uri.startsWith('ahp-content:') && isPicture(words.type) && (content.sizeHint ?? 0) <= shownAtOnce,
  )
  const [stored, setStored] = useState<Stored | string>()
  useEffect(() => {
    if (!open || stored !== undefined) return
    let current = true
    readContent(client, uri).then(
      (read) => current && setStored(read),
      (error: unknown) => current && setStored(error instanceof Error ? error.message : String(error)),
    )
    return () => void (current = false)
  }, [client, uri, open, stored])
  const save = () =>
    readContent(client, uri).then(
      (read) => saveContent(read, words.name),
      (error: unknown) => say(`${words.name} was not downloaded: ${String(error)}`),
    )
  if (open && typeof stored === 'object' && isPicture(words.type))
    return (
      <figure class="content-picture">
        <Picture
          class="tool-image"
          src={`data:${words.type};base64,${stored.base64}`}
          alt={words.isFile ? words.name : 'Picture of the agent'}
        />
      </figure>
    )
  return (
    <div class="content-card" role="group" aria-label={words.name}>
      <div class="content-head">
        <Icon of={link === undefined ? FileIcon : Link} />
        <span class="content-name">
          {link === undefined ? (
            words.name
          ) : (
            <a href={link} target="_blank" rel="noopener noreferrer">
              {visibleText(link)}
            </a>
          )}
          {words.about.map((each) => (
            <span key={each} class="quiet">
              {each}
            </span>
          ))}
        </span>
        {readable && opens(words) && !open && <Button onClick={() => setOpen(true)}>Open</Button>}
        {readable && (
          <Button icon={Download} look="quiet" onClick={() => void save()}>
            Download
          </Button>
        )}
      </div>
      {open && stored === undefined && <p class="quiet">Reading…</p>}
      {typeof stored === 'string' && (
        <p class="problem" role="alert">
          This cannot be shown: {stored}
        </p>
      )}
      {open && typeof stored === 'object' && <Text type={words.type} stored={stored} />}
    </div>
  )
}

function Text({ type, stored }: { readonly type: string; readonly stored: Stored }) {
  const { text } = stored
  if (text === undefined) return <p class="quiet">This is no text. It can be downloaded.</p>
  if (type === 'text/markdown') return <Markdown text={text} />
  return (
    <div class="output">
      <pre tabIndex={0}>{withVisibleControls(text.slice(0, longestText))}</pre>
      {text.length > longestText && <p class="quiet">This is the beginning. All of it can be downloaded.</p>}
    </div>
  )
}
