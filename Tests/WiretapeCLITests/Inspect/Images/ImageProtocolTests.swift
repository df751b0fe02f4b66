import Testing

@testable import WiretapeCLI

@Suite struct ImageProtocolTests {
    @Test(arguments: [
        (["TERM": "xterm-kitty"], ImageProtocol.kitty), (["TERM": "xterm-256color", "KITTY_WINDOW_ID": "1"], .kitty),
        (["TERM_PROGRAM": "ghostty"], .kitty), (["TERM_PROGRAM": "iTerm.app"], .iTerm), (["LC_TERMINAL": "iTerm2"], .iTerm),
        (["TERM_PROGRAM": "WezTerm"], .iTerm), (["TERM": "foot"], .sixel), (["TERM": "xterm-sixel"], .sixel), (["TERM": "mlterm"], .sixel),
        (["TERM": "xterm-256color"], nil), ([:], nil), (["TERM": "xterm-kitty", "TMUX": "/tmp/x"], nil),
        (["TERM": "screen", "STY": "1", "LC_TERMINAL": "iTerm2"], nil), (["TERM": "dumb", "KITTY_WINDOW_ID": "1"], nil),
    ])
    func goesByTheEnvironment(environment: [String: String], kind: ImageProtocol?) {
        #expect(ImageProtocol { environment[$0] } == kind)
    }
}
