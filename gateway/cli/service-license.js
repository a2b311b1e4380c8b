#!/usr/bin/env node
// Runs on any Node >= 20 and hands over to the bundled one. decision: D1
import { handOver } from '../../actors/runtime/launch.js';

handOver(import.meta.url, './service-license.ts');
