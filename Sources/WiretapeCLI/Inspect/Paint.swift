/// Colours text for a terminal, or leaves it as it is.
struct Paint: Sendable {
    /// SGR parameters of ECMA-48 that every terminal with colours has.
    enum Color: String {
        case bold = "1"
        case dim = "2"
        case red = "31"
        case green = "32"
        case yellow = "33"
        case blue = "34"
        case magenta = "35"
        case cyan = "36"
    }

    var isOn: Bool

    func callAsFunction(_ text: String, _ color: Color?) -> String {
        guard self.isOn, let color, !text.isEmpty else { return text }
        return "\u{1B}[\(color.rawValue)m\(text)\u{1B}[0m"
    }

    /// By class (RFC 9110, 15); none for an interim or unknown one.
    static func color(status: Int) -> Color? {
        switch status / 100 {
        case 2: .green
        case 3: .cyan
        case 4: .yellow
        case 5: .red
        default: nil
        }
    }
}
