import Testing

@testable import WiretapeCLI

@Suite struct PaintTests {
    @Test func paintsAndGoesBack() {
        #expect(Paint(isOn: true)("200", .green) == "\u{1B}[32m200\u{1B}[0m")
    }

    @Test func leavesTextAloneWhereThereIsNoColor() {
        #expect(Paint(isOn: false)("200", .green) == "200")
        #expect(Paint(isOn: true)("200", nil) == "200")
        #expect(Paint(isOn: true)("", .red) == "")
    }

    @Test(arguments: [(100, nil), (204, .green), (302, .cyan), (404, .yellow), (503, .red), (999, nil)] as [(Int, Paint.Color?)])
    func aStatusHasTheColorOfItsClass(status: Int, color: Paint.Color?) {
        #expect(Paint.color(status: status) == color)
    }
}
