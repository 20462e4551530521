import type { Token, Tokens } from 'marked'
import type { ComponentChildren } from 'preact'
import { decoded } from './entities.ts'
import { safeImage, safeLink } from './safe-link.ts'

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
  return decoded((only as Tokens.Text).text)
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
      return <code key={key}>{(token as Tokens.Codespan).text}</code>
    case 'br':
      return <br key={key} />
    case 'link':
      return <Link key={key} token={token as Tokens.Link} />
    case 'image':
      return <Image key={key} token={token as Tokens.Image} />
    case 'escape':
      return (token as Tokens.Escape).text
    case 'text':
      return 'tokens' in token && token.tokens ? inner : decoded((token as Tokens.Text).text)
    case 'checkbox':
      return null
    default:
      return token.raw
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
    <a href={safe} title={safe} target="_blank" rel="noopener noreferrer">
      <Inline tokens={tokens} />
    </a>
  )
}

/** A picture from elsewhere is a link: loading it would tell its server who reads this. */
function Image({ token: { href, text } }: { readonly token: Tokens.Image }) {
  const image = safeImage(href)
  if (image !== undefined) return <img src={image} alt={text} />
  const safe = safeLink(href)
  const name = text === '' ? 'picture' : text
  if (safe === undefined) return <span class="dead-link">{name}</span>
  return (
    <a href={safe} title={safe} target="_blank" rel="noopener noreferrer">
      {name} (picture)
    </a>
  )
}
