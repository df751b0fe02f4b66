/// What an inspection may assume about where its text goes.
struct InspectScreen: Sendable {
    /// Columns of the terminal; nil where the text goes into a file or another program, which get it whole.
    var width: Int?
    var paint: Paint
    /// How the terminal shows images among text; nil where it shows none.
    var images: ImageProtocol?

    var isTerminal: Bool { self.width != nil }

    static var current: InspectScreen {
        InspectScreen(
            width: Terminal.output.isTerminal ? Terminal.output.width : nil, paint: Paint(isOn: Terminal.output.usesColor),
            images: Terminal.output.isTerminal ? ImageProtocol.current : nil)
    }
}
