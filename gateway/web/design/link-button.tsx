// A link that looks like a button, with the router's types for where it leads.
import { Button, type ButtonProps } from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import type { AnchorHTMLAttributes } from 'react';

type Props = ButtonProps & Omit<AnchorHTMLAttributes<HTMLAnchorElement>, keyof ButtonProps>;

export const LinkButton = createLink((props: Props) => <Button component="a" {...props} />);
