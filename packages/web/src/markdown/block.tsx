import type { Token, Tokens } from 'marked'
import { memo } from 'preact/compat'
import type { Block as BlockValue } from './blocks.ts'
import { CodeBlock } from './code-block.tsx'
import { withoutOverrides } from '../ui/visible-controls.ts'
import { Inline, plainText } from './inline.tsx'
import { LongText } from './long-text.tsx'

/** A block of a text. It is drawn again only if its object has changed. */
export const Block = memo(function Block({ block }: { readonly block: BlockValue }) {
  return <BlockToken token={block.token} open={block.open} />
})

// The lexer names the shape of a token by its type, which the type `Token` leaves open for extensions: hence the casts.
function BlockToken({ token, open }: { readonly token: Token; readonly open: boolean }) {
  switch (token.type) {
    case 'heading': {
      const { depth, tokens } = token as Tokens.Heading
      // All headings have one level: texts skip levels, which would confuse the outline of the page.
      return (
        <h2 class={`depth-${depth}`}>
          <Inline tokens={tokens} />
        </h2>
      )
    }
    case 'code': {
      const { lang, text } = token as Tokens.Code
      return <CodeBlock language={lang ?? ''} text={text} open={open} />
    }
    case 'blockquote':
      return (
        <blockquote>
          <BlockTokens tokens={(token as Tokens.Blockquote).tokens} open={open} />
        </blockquote>
      )
    case 'list':
      return <List list={token as Tokens.List} open={open} />
    case 'table':
      return <Table table={token as Tokens.Table} />
    case 'hr':
      return <hr />
    case 'paragraph': {
      const { tokens } = token as Tokens.Paragraph
      const plain = plainText(tokens)
      return <p>{plain === undefined ? <Inline tokens={tokens} /> : <LongText text={plain} open={open} />}</p>
    }
    case 'footnoteText': {
      const { name, tokens } = token as Tokens.Generic
      return (
        <p class="footnote-text">
          <sup>{name}</sup> <Inline tokens={tokens} />
        </p>
      )
    }
    case 'mathsBlock':
      // A formula is shown as it was written. Drawing it would need a library that is larger than the page.
      return <CodeBlock language="maths" text={(token as Tokens.Generic)['text']} open={open} />
    case 'text':
      return <Inline tokens={[token]} />
    case 'space':
    case 'def':
    case 'checkbox':
      return null
    default:
      // HTML, and token types that later versions of the lexer add, are shown as plain text.
      return <p>{withoutOverrides(token.raw)}</p>
  }
}

function BlockTokens({ tokens, open }: { readonly tokens: readonly Token[]; readonly open: boolean }) {
  return (
    <>
      {tokens.map((token, at) => (
        <BlockToken key={at} token={token} open={open && at === tokens.length - 1} />
      ))}
    </>
  )
}

function List({
  list: { ordered, start, items },
  open,
}: {
  readonly list: Tokens.List
  readonly open: boolean
}) {
  const entries = items.map((item, at) => (
    <li key={at} class={item.task ? 'task' : ''}>
      {item.task && (
        <input
          type="checkbox"
          checked={item.checked === true}
          disabled
          aria-label={item.checked ? 'done' : 'not done'}
        />
      )}
      <BlockTokens tokens={item.tokens} open={open && at === items.length - 1} />
    </li>
  ))
  return ordered ? <ol start={Number(start) || 1}>{entries}</ol> : <ul>{entries}</ul>
}

function Table({ table: { header, rows } }: { readonly table: Tokens.Table }) {
  return (
    <div class="table" tabIndex={0} role="region" aria-label="Table">
      <table>
        <thead>
          <tr>
            {header.map(({ tokens, align }, at) => (
              <th key={at} scope="col" class={align ?? ''}>
                <Inline tokens={tokens} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, row) => (
            <tr key={row}>
              {cells.map(({ tokens, align }, at) => (
                <td key={at} class={align ?? ''}>
                  <Inline tokens={tokens} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
