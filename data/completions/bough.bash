# bash completion of bough; made by tools/make-completions.py.

_bough()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command='' i
	COMPREPLY=()
	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		-r | --root | --color | --theme) ((i++)) ;;
		-*) ;;
		*) command=${COMP_WORDS[i]}; break ;;
		esac
	done
	case $prev in
	--root | -r) COMPREPLY=($(compgen -d -- "$cur")); return ;;
	--color) COMPREPLY=($(compgen -W 'auto always never' -- "$cur")); return ;;
	--theme) COMPREPLY=($(compgen -W 'dark light mono' -- "$cur")); return ;;
	--from) return ;;
	--compression) COMPREPLY=($(compgen -W 'zstd none' -- "$cur")); return ;;
	--round) return ;;
	--message | -m) return ;;
	--file | -F) COMPREPLY=($(compgen -f -- "$cur")); return ;;
	--role) COMPREPLY=($(compgen -W 'USER ASSISTANT SYSTEM TOOL_RESULT' -- "$cur")); return ;;
	--sort | -s) COMPREPLY=($(compgen -W 'activity created title size' -- "$cur")); return ;;
	--number | -n) return ;;
	--show) COMPREPLY=($(compgen -W 'all talk prompts tools problems' -- "$cur")); return ;;
	esac
	if [[ $cur == -* ]]; then
		local options='--ascii --color --help --root -h -r'
		case $command in
		'') options+=' --theme --version' ;;
		branches) options+=' --json' ;;
		cards) options+=' --json' ;;
		cat) options+=' --balanced --from --json --stored' ;;
		checkout) options+=' --dry-run --json --wait' ;;
		convert) options+=' --compression --dry-run --force --json --wait' ;;
		fold) options+=' --canonical --json --outline --round' ;;
		fork) options+=' --dry-run --edit --exact --file --force --json --message --new --retry --role --wait -F -e -m' ;;
		help) options+=' --json' ;;
		label) options+=' --dry-run --json --wait' ;;
		list) options+=' --headers --json --sort -s' ;;
		log) options+=' --json --number --reverse -n' ;;
		problems) options+=' --json' ;;
		reflog) options+=' --json' ;;
		relations) options+=' --json' ;;
		rename) options+=' --dry-run --json --wait' ;;
		repair) options+=' --dry-run --force --json --salvage --wait' ;;
		rounds) options+=' --json' ;;
		show) options+=' --json --verify' ;;
		trash) options+=' --dry-run --json --wait' ;;
		tree) options+=' --all --fold --json --show -a -f' ;;
		unresolved) options+=' --json' ;;
		verify) options+=' --json' ;;
		esac
		COMPREPLY=($(compgen -W "$options" -- "$cur"))
	elif [[ -z $command ]]; then
		COMPREPLY=($(compgen -W 'branches cards cat checkout convert fold fork help label list log problems reflog relations rename repair rounds show trash tree unresolved verify' -- "$cur") $(compgen -f -- "$cur"))
	elif [[ $command == help ]]; then
		COMPREPLY=($(compgen -W 'branches cards cat checkout convert fold fork help label list log problems reflog relations rename repair rounds show trash tree unresolved verify' -- "$cur"))
	else
		COMPREPLY=($(compgen -f -- "$cur"))
	fi
}
complete -o filenames -F _bough bough
