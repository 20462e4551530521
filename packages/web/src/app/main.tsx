import { render } from 'preact'
import '../styles/tokens.css'
import '../styles/base.css'
import '../styles/dialogs.css'
import '../styles/shell.css'
import '../styles/sessions.css'
import '../styles/chat.css'
import '../styles/messages.css'
import '../styles/tools.css'
import '../styles/views.css'
import '../styles/diff.css'
import '../styles/changes.css'
import '../styles/forms.css'
import '../styles/composer.css'
import '../styles/start.css'
import '../styles/inbox.css'
import '../styles/narrow.css'
import '../styles/markdown.css'
import { warmUp } from '../markdown/warm-up.ts'
import { keepShell } from '../offline/register.ts'
import { App } from './app.tsx'
import { applyDensity } from './density.ts'
import { applyTheme } from './theme.ts'

applyTheme()
applyDensity()
const place = document.getElementById('page')
if (place) render(<App />, place)
// Two tasks wait until the page has loaded, so that they do not delay it: compiling the Markdown parser, and storing the
// files of the page for offline use.
addEventListener('load', () => {
  warmUp()
  void keepShell()
})
