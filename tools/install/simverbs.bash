# Completion of simverbs for bash. tests/programs/run_install_check.py compares the options with simverbs --help.

_simverbs_labs() { "$1" list 2>/dev/null | sed -n '/^labs/,/^NIC/s/^  \([^ ]*\) .*/\1/p'; }
_simverbs_hosts() { "$1" list ${2:+"$2"} 2>/dev/null | sed -n '2,$s/^  \([^ ]*\).*/\1/p'; }

_simverbs_reply() { mapfile -t COMPREPLY < <(compgen "$@"); }

_simverbs() {
    local tool="${COMP_WORDS[0]}" word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD - 1]}"
    local command="" lab="" positionals=0 i
    local commands="exec up on down run report list check explain explain-schema"
    local lab_options="--lab --seed --clock --pcap --timeline --timeline-packets --explain --set --help"
    for ((i = 1; i < COMP_CWORD; ++i)); do
        case "${COMP_WORDS[i]}" in
        --lab) lab="${COMP_WORDS[++i]}" ;;
        --seed | --clock | --pcap | --timeline | --timeline-packets | --set | --name | --out | --threads | --jobs | --junit) ((++i)) ;;
        -*) ;;
        *) if [ -z "$command" ]; then command="${COMP_WORDS[i]}"; else ((++positionals)); fi ;;
        esac
    done
    COMPREPLY=()
    case "$before" in
    --lab) _simverbs_reply -f -W "$(_simverbs_labs "$tool")" -- "$word"; compopt -o filenames 2>/dev/null; return ;;
    --clock) _simverbs_reply -W "virtual wall" -- "$word"; return ;;
    --out)
        if [ "$command" = report ]; then _simverbs_reply -f -- "$word"; else _simverbs_reply -d -- "$word"; fi
        compopt -o filenames 2>/dev/null
        return
        ;;
    --pcap) _simverbs_reply -d -- "$word"; compopt -o filenames 2>/dev/null; return ;;
    --timeline | --junit) _simverbs_reply -f -- "$word"; compopt -o filenames 2>/dev/null; return ;;
    --seed | --timeline-packets | --set | --name | --threads | --jobs) return ;;
    esac
    if [[ "$word" == -* ]]; then
        case "$command" in
        "") _simverbs_reply -W "--help --version" -- "$word" ;;
        exec) _simverbs_reply -W "$lab_options --stats" -- "$word" ;;
        up) _simverbs_reply -W "$lab_options --name --foreground" -- "$word" ;;
        on | down) _simverbs_reply -W "--name --help" -- "$word" ;;
        run) _simverbs_reply -W "--out --seed --threads --jobs --set --junit --help" -- "$word" ;;
        report) _simverbs_reply -W "--out --help" -- "$word" ;;
        explain-schema) _simverbs_reply -W "--json --help" -- "$word" ;;
        *) _simverbs_reply -W "--help" -- "$word" ;;
        esac
        return
    fi
    case "$command" in
    "") _simverbs_reply -W "$commands" -- "$word" ;;
    exec)
        if ((positionals % 2 == 0)); then
            _simverbs_reply -W "$(_simverbs_hosts "$tool" "${lab:-two_hosts_roce}")" -- "$word"
        else
            _simverbs_reply -c -- "$word"
        fi
        ;;
    on)
        # Which lab is up is the daemon's business: host names are not guessed.
        if ((positionals > 0)); then _simverbs_reply -c -- "$word"; fi
        ;;
    up | list) _simverbs_reply -f -W "$(_simverbs_labs "$tool")" -- "$word"; compopt -o filenames 2>/dev/null ;;
    report) _simverbs_reply -d -- "$word"; compopt -o filenames 2>/dev/null ;;
    run | check) _simverbs_reply -f -- "$word"; compopt -o filenames 2>/dev/null ;;
    esac
}

complete -F _simverbs simverbs
