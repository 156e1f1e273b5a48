import './workers.js';
import '@graphiql/react/style.css';
import '@graphiql/plugin-doc-explorer/style.css';
import '@graphiql/plugin-history/style.css';
import 'graphiql/graphiql.css';
import './playground.css';
import { createRoot } from 'react-dom/client';
import { loadSettings } from '../../lite/settings.js';
import { Playground } from './playground.jsx';

createRoot(document.getElementById('root')).render(<Playground settings={await loadSettings(new URL('playground/config.json', location.href))} />);
