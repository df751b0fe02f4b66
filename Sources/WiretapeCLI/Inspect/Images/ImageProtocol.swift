internal import Platform

/// How a terminal takes images among text.
///
/// Goes by what terminals say of themselves in the environment, and asks none: an answer would come as if it were typed.
enum ImageProtocol {
    /// https://sw.kovidgoyal.net/kitty/graphics-protocol
    case kitty
    /// https://iterm2.com/documentation-images.html
    case iTerm
    /// DEC's graphics of six pixels to a character.
    case sixel

    static var current: ImageProtocol? { ImageProtocol { name in getenv(name).map { String(cString: $0) } } }

    /// - Parameter variable: looks a variable of the environment up.
    init?(_ variable: (String) -> String?) {
        let kind = variable("TERM") ?? ""
        let program = variable("TERM_PROGRAM") ?? ""
        // A multiplexer keeps the variables of the terminal it was started in, and swallows its images.
        guard variable("TMUX") == nil, variable("STY") == nil, kind != "dumb" else { return nil }
        if kind == "xterm-kitty" || kind == "xterm-ghostty" || program == "ghostty" || variable("KITTY_WINDOW_ID") != nil {
            self = .kitty
        } else if program == "iTerm.app" || program == "WezTerm" || variable("LC_TERMINAL") == "iTerm2" {
            self = .iTerm
        } else if kind.contains("sixel") || kind == "mlterm" || kind == "foot" || kind.hasPrefix("foot-") || kind == "contour" {
            self = .sixel
        } else {
            return nil
        }
    }
}
