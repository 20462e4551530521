import type { Token, Tokens } from 'marked'
import type { ComponentChildren } from 'preact'
import { decoded } from './entities.ts'
import { withVisibleControls, withoutOverrides } from '../ui/visible-controls.ts'
import { PlacesProvider, useOpenPlace, withPlaces } from './places.ts'
import { Picture } from '../ui/picture.tsx'
import { otherHost, safeImage, safeLink } from './safe-link.ts'

/**
 * The inline part of a text as elements. Each kind of token has one kind of element. HTML is shown as the text that it
 * is: no string of a message ever becomes markup (S-42).
 */
export function Inline({ tokens }: { readonly tokens: readonly Token[] | undefined }) {
  return <>{(tokens ?? []).map((token, at) => inline(token, at))}</>
}

/** The text of tokens that are nothing but plain words. Undefined for others. */
export function plainText(tokens: readonly Token[]): string | undefined {
  const [only, ...others] = tokens
  if (only?.type !== 'text' || others.length > 0 || ('tokens' in only && only.tokens)) return undefined
  const text = decoded((only as Tokens.Text).text)
  // Looking for places costs time, and a growing text is drawn with each frame.
  return text.length < longText && withPlaces(text).length > 1 ? undefined : text
}

/** The length from which a paragraph of plain words is drawn without links to places, in characters. */
const longText = 4000

/** Words of a text, in which lines of files are buttons that open them. */
function Words({ text }: { readonly text: string }) {
  const open = useOpenPlace()
  if (!open) return <>{text}</>
  return (
    <>
      {withPlaces(text).map((each, at) =>
        typeof each === 'string' ? (
          each
        ) : (
          <button key={at} type="button" class="place" onClick={() => open(each)}>
            {each.text}
          </button>
        ),
      )}
    </>
  )
}

// The lexer names the shape of a token by its type, which the type `Token` leaves open for extensions: hence the casts.
function inline(token: Token, key: number): ComponentChildren {
  const inner = <Inline tokens={'tokens' in token ? token.tokens : undefined} />
  switch (token.type) {
    case 'strong':
      return <strong key={key}>{inner}</strong>
    case 'em':
      return <em key={key}>{inner}</em>
    case 'del':
      return <del key={key}>{inner}</del>
    case 'codespan':
      return (
        <code key={key}>
          <Words text={withVisibleControls((token as Tokens.Codespan).text)} />
        </code>
      )
    case 'footnote':
      return <sup key={key}>{(token as Tokens.Generic)['text']}</sup>
    case 'maths':
      return <code key={key}>{token.raw}</code>
    case 'br':
      return <br key={key} />
    case 'link':
      return <Link key={key} token={token as Tokens.Link} />
    case 'image':
      return <Image key={key} token={token as Tokens.Image} />
    case 'escape':
      return (token as Tokens.Escape).text
    case 'text':
      return 'tokens' in token && token.tokens ? (
        inner
      ) : (
        <Words key={key} text={decoded((token as Tokens.Text).text)} />
      )
    case 'checkbox':
      return null
    default:
      return withoutOverrides(token.raw)
  }
}

function Link({ token: { href, tokens } }: { readonly token: Tokens.Link }) {
  const safe = safeLink(href)
  if (safe === undefined)
    return (
      <span class="dead-link" title={href}>
        <Inline tokens={tokens} />
      </span>
    )
  return (
    <>
      <a href={safe} title={safe} target="_blank" rel="noopener noreferrer">
        {/* A button cannot be in a link. */}
        <PlacesProvider value={undefined}>
          <Inline tokens={tokens} />
        </PlacesProvider>
      </a>
      <RealAddress text={textOf(tokens)} href={safe} />
    </>
  )
}

/** Says where a link leads whose text is another address. */
function RealAddress({ text, href }: { readonly text: string; readonly href: string }) {
  const host = otherHost(text, href)
  return host === undefined ? null : <span class="real-address"> (leads to {host})</span>
}

function textOf(tokens: readonly Token[]): string {
  return tokens
    .map((token) => ('tokens' in token && token.tokens ? textOf(token.tokens) : token.raw))
    .join('')
}

/** A picture from elsewhere is a link: loading it would tell its server who reads this. */
function Image({ token: { href, text } }: { readonly token: Tokens.Image }) {
  const image = safeImage(href)
  if (image !== undefined) return <Picture src={image} alt={text} />
  const safe = safeLink(href)
  const name = text === '' ? 'picture' : text
  if (safe === undefined) return <span class="dead-link">{name}</span>
  return (
    <a href={safe} title={safe} target="_blank" rel="noopener noreferrer">
      {name} (picture)
    </a>
  )
}
