import Testing

@testable import CassetteModel

struct MultipartProblemTests {
    @Test func saysWhere() {
        #expect(MultipartProblem(.nul, offset: 7, "a NUL").description == "offset 7: a NUL")
        #expect(MultipartProblem(.boundaryMissing, offset: nil, "no boundary").description == "no boundary")
    }
}
