// SPDX-License-Identifier: Apache-2.0
import { mount } from 'svelte';
import App from './pages/App.svelte';
import './ui/tokens.css';
import './ui/base.css';
import { apply, savedTheme } from './ui/theme';

apply(savedTheme());
mount(App, { target: document.getElementById('app') as HTMLElement });
