import type { ToolCallPendingConfirmation } from '@atrium/protocol/chat/tool'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Button } from '../../ui/button.tsx'
import { useHiddenLines, useSeenLines } from '../../ui/unseen.ts'
import { readText } from '../shared/file-contents.ts'
import { useChat } from '../shared/context.ts'
import { askedText } from './tool-words.ts'

/** The lines of an input that are shown without a button for all of them. */
const fewLines = 12

/** The input of a tool that asks. All of it can be shown, and what was never on the screen is counted. */
export function AskedInput({ call }: { readonly call: ToolCallPendingConfirmation }) {
  const { client } = useChat()
  const stored = typeof call.toolInput === 'object' ? call.toolInput.uri : undefined
  const [read, setRead] = useState<{ readonly text?: string; readonly problem?: string }>()
  useEffect(() => {
    if (stored === undefined) return
    let current = true
    readText(client, stored).then(
      (text) => current && setRead({ text }),
      (error: unknown) =>
        current && setRead({ problem: error instanceof Error ? error.message : String(error) }),
    )
    return () => void (current = false)
  }, [client, stored])
  if (stored === undefined || read?.text !== undefined) {
    const text = askedText(call, read?.text)
    return text === undefined ? null : <Input text={text} />
  }
  return <Missing problem={read?.problem} />
}

function Missing({ problem }: { readonly problem: string | undefined }) {
  useHiddenLines(1)
  if (problem === undefined) return <p class="quiet">Reading the input…</p>
  return <p class="problem">The input cannot be shown: {problem}</p>
}

function Input({ text }: { readonly text: string }) {
  const [all, setAll] = useState(false)
  const box = useRef<HTMLDivElement>(null)
  const element = useRef<HTMLPreElement>(null)
  useSeenLines(element)
  useEffect(() => {
    if (!all) return
    // The list follows its end when something in it grows, in this frame. A person reads from the beginning.
    let frame = requestAnimationFrame(() => {
      frame = requestAnimationFrame(() => box.current?.scrollIntoView({ block: 'start' }))
    })
    return () => cancelAnimationFrame(frame)
  }, [all])
  const lines = text.split('\n').length
  return (
    <>
      <div
        ref={box}
        class={`tool-input${all ? ' whole' : ''}`}
        role="group"
        aria-label="Input of the tool"
        tabIndex={0}
      >
        <pre ref={element}>{text}</pre>
      </div>
      {!all && (lines > fewLines || text.length > 80 * fewLines) && (
        <Button look="quiet" onClick={() => setAll(true)}>
          {lines > 1 ? `Show all ${lines} lines` : 'Show all of it'}
        </Button>
      )}
    </>
  )
}
