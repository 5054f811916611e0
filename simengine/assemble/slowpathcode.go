package assemble

import "github.com/warptune/warptune/simengine/ir"

// scaleF32 is what the paths of ordinary and of denormal results share: scaling and rounding.
const scaleF32 = `LEA c e
	IADD3 g g
	IMAD.IADD b y c
	IADD3 e g e
	MUFU r b
	FADD n b
	IMAD.IADD k e k
	FFMA c r n
	FFMA c r c r
	IMAD a g x
	FFMA y a c
	FFMA x n y a
	FFMA y c x y
	FFMA n n y a
	FFMA r c n y
	SHF e r
	LOP3 e e
	IMAD.IADD e e k
	IADD3 h e
	ISETP p h
	@p BRA
	`

var divisionF32 = routine([ir.NumPaths]string{
	ir.PathEntered: `MOV m
		BRA
		SHF e b
		IMAD.MOV x a
		SHF g a
		IMAD.MOV y b
		LOP3 e e
		LOP3 g g
		IADD3 h e
		IADD3 i g
		ISETP p h
		ISETP p i p
		IMAD.MOV k
		@p BRA
		IMAD.MOV c
		BRA
		IMAD.MOV r r`,
	ir.PathUndefined: `FSETP p a
		FSETP q b
		PLOP3 p p q
		@p BRA
		LOP3 p x y
		@p BRA
		MUFU r
		BRA`,
	ir.PathLimit: `FSETP p a
		FSETP q b
		PLOP3 p p q
		@p BRA
		LOP3 p x y
		@p BRA
		FSETP s a
		FSETP q b
		FSETP p a
		@q BRA
		LOP3 s x
		PLOP3 s q s
		@s BRA
		LOP3 r x y
		BRA`,
	ir.PathScaled: scaleF32 + `IMAD r k r
		BRA`,
	ir.PathTiny: scaleF32 + `ISETP p e
		@p BRA
		ISETP p e
		@p BRA
		ISETP p e
		LOP3 r r
		@p BRA
		FFMA x c n y
		IADD3 g e
		FFMA k c n y
		FFMA c c n y
		ISETP p e
		LOP3 x x
		FSETP q k c
		IMAD k e
		LOP3 x x
		SHF g x g
		ISETP p g p
		PLOP3 p q p
		ISETP q e
		SEL c p
		SEL k k q
		SHF k k x
		SHF g k
		LOP3 c c g
		LOP3 c c k
		IMAD.IADD c g c
		LOP3 r c r
		BRA`,
})

// Words a and b are the upper words of the operands A and B.
var divisionF64 = routine([ir.NumPaths]string{
	ir.PathEntered: `IMAD.MOV c
		MOV m
		IMAD.MOV d
		BRA
		FSETP p b
		IMAD.MOV i
		LOP3 w b
		IMAD.MOV r
		FSETP q a
		BSSY
		LOP3 w w
		IMAD.MOV v
		LOP3 e a
		LOP3 g b
		IMAD.MOV x
		ISETP s e g
		IMAD.MOV y e
		@q LOP3 h b
		@q IMAD.MOV t
		MUFU k w
		SEL j i s
		@q ISETP z e h
		IMAD.MOV u
		LOP3 j j a
		@q SEL l i z
		@p LOP3 g w
		@q LOP3 l l a
		IADD3 n g
		@q LOP3 l l
		DFMA E R W
		@q IMAD.MOV l
		DFMA E E E
		DFMA R R E R
		@q LOP3 y j
		IADD3 o y
		DFMA E R W
		ISETP p o
		DFMA R R E R
		ISETP p n p
		DMUL E R U
		DFMA T E W U
		DFMA T R T E
		@p BRA
		BSYNC
		IMAD.MOV v
		IMAD.MOV w
		IMAD.MOV c
		IMAD.MOV d
		BRA
		IMAD.MOV r c
		IMAD.MOV s d`,
	ir.PathUndefined: `DSETP p A A
		@p BRA
		LOP3 f a
		IMAD.MOV r
		BRA`,
	ir.PathLimit: `DSETP p A A
		@p BRA
		DSETP p B B
		@p BRA
		ISETP p y g
		IMAD.MOV r
		IMAD.MOV f
		@p BRA
		ISETP p y
		LOP3 f a b
		ISETP p g p
		@p LOP3 v f
		@p IMAD.MOV r
		@p IMAD.MOV r
		@p IMAD.MOV f v
		BRA`,
	ir.PathScaled: scaleF64,
	ir.PathTiny: scaleF64 + `DFMA V T W U
		IMAD.MOV x
		FSETP p w
		LOP3 d w b
		LOP3 y d y
		@p BRA
		IMAD w h
		DMUL X T X
		IMAD.MOV v
		DFMA V R W T
		LOP3 d y d
		IADD3 v h
		FSETP p w v
		SEL r x r p
		SEL s d s p
		BRA`,
})

const scaleF64 = `LOP3 r b
	ISETP p e r
	IMAD.IADD x e r
	SEL y i p
	VIMNMX x x
	VIMNMX x x
	IMAD.IADD h x y
	IMAD.MOV x
	IADD3 y h
	DMUL R T X
	FSETP p s
	@p BRA
	`

var unaryF32 = routine([ir.NumPaths]string{
	ir.PathEntered: `MOV m
		BRA
		SHF e a
		LOP3 e e
		ISETP p e
		@p BRA
		IMAD.MOV c
		BRA
		IMAD.MOV r c`,
	ir.PathUndefined: `FSETP p a
		@p BRA
		FADD r a
		BRA`,
	ir.PathLimit: `FSETP p a
		@p BRA
		LOP3 p a
		@p BRA
		MUFU r a
		BRA`,
	ir.PathScaled: `FFMA x a
		MUFU r x
		FFMA e r x
		FFMA r e r r
		FFMA e r x
		FFMA r e r
		FFMA r r
		BRA`,
	ir.PathTiny: scaleF32 + `IADD3 g e
		LOP3 x x
		LOP3 x x
		SHF g x g
		ISETP p g
		SEL c p
		SHF k k x
		SHF g k
		LOP3 c c g
		IMAD.IADD c g c
		LOP3 r c r
		BRA`,
})

var unaryF64 = routine([ir.NumPaths]string{
	ir.PathEntered: `IMAD.MOV c
		MOV m
		IMAD.MOV d
		BRA
		LOP3 e a
		ISETP p e
		BSSY
		@p BRA
		BSYNC
		IMAD.MOV c
		IMAD.MOV d
		BRA
		IMAD.MOV r c
		IMAD.MOV s d`,
	ir.PathUndefined: `DSETP p A A
		@p BRA
		DADD R A
		BRA`,
	ir.PathLimit: `DSETP p A A
		@p BRA
		LOP3 f a
		LOP3 p a
		@p BRA
		IMAD.MOV r
		BRA`,
	ir.PathScaled: `DMUL X A
		MUFU k x
		DFMA E R X
		DFMA E E E
		DFMA R R E R
		DFMA E R X
		DFMA R R E R
		DMUL R R
		BRA`,
	ir.PathTiny: `DMUL X A
		MUFU k x
		DFMA E R X
		DFMA E E E
		DFMA R R E R
		DFMA E R X
		DFMA R R E R
		DMUL R R
		DMUL R R
		BRA`,
})
