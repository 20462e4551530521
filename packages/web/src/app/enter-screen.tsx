import { useState } from 'preact/hooks'
import { Button } from '../ui/button.tsx'
import { Brand } from './brand.tsx'

interface Props {
  readonly problem: string | undefined
  readonly onCode: (code: string) => void
}

/**
 * The screen for a browser that the host does not let in. It says how to get a link with a code, and has a field for it.
 */
export function EnterScreen({ problem, onCode }: Props) {
  const [text, setText] = useState('')
  const code = /(?:^|#code=)([0-9A-Za-z]{5}[- ]?[0-9A-Za-z]{5})$/.exec(text.trim())?.[1]
  return (
    <main class="enter">
      <form
        class="enter-card"
        onSubmit={(event) => {
          event.preventDefault()
          if (code !== undefined) onCode(code)
        }}
      >
        <Brand />
        <h1>This browser has no access to this host</h1>
        <p>On the machine of the host, run this and open the link that it prints:</p>
        <pre class="command">atrium web</pre>
        <p class="quiet">
          A link lets one browser in, once. This browser then keeps a key of its own and needs no link again.
        </p>
        <label class="field">
          <span>Or paste the link here</span>
          <input
            type="text"
            autocomplete="off"
            spellcheck={false}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
        {problem !== undefined && (
          <p class="problem" role="alert">
            It did not work: {problem}.
          </p>
        )}
        <Button submit look="primary" disabled={code === undefined}>
          Enter
        </Button>
      </form>
    </main>
  )
}
